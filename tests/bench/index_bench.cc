// Cost of the address index: a pair of insert and erase as malloc and free make it, and the drain
// thread's look-up of an interior address.
//
//   index_bench --benchmark_min_time=0.2
#include <benchmark/benchmark.h>

#include <cstdint>

#include "agent/ledger/shadow_map.h"

namespace {

using memagent::SiteId;
using memagent::ledger::Block;
using memagent::ledger::Displaced;
using memagent::ledger::EventTime;

// The index asks for no memory at the addresses it is told.
constexpr uint64_t kHeap = uint64_t{0x7000} << 32;
constexpr uint64_t kSpacing = 80;  // of blocks of 64 bytes in glibc
constexpr uint64_t kSize = 64;

uint64_t Scramble(uint64_t i) { return i * 0x9e3779b97f4a7c15ull >> 20; }

uint64_t Start(uint64_t number) { return kHeap + number * kSpacing; }

void Insert(uint64_t start, uint64_t now) {
  Displaced displaced;
  benchmark::DoNotOptimize(
      InsertBlock(start, kSize, static_cast<SiteId>(1), static_cast<EventTime>(now), displaced));
}

// range(0): number of live blocks, replaced in scrambled order.
void BM_InsertErase(benchmark::State& state) {
  const auto live = static_cast<uint64_t>(state.range(0));
  uint64_t now = 1;
  for (uint64_t i = 0; i < live; ++i) Insert(Start(i), now);
  for (auto _ : state) {
    const uint64_t start = Start(Scramble(++now) % live);
    Block block;
    Displaced displaced;
    benchmark::DoNotOptimize(EraseBlock(start, static_cast<EventTime>(now), block, displaced));
    Insert(start, now);
  }
}

void BM_LookUpInterior(benchmark::State& state) {
  const auto live = static_cast<uint64_t>(state.range(0));
  for (uint64_t i = 0; i < live; ++i) Insert(Start(i), 1);
  uint64_t i = 0;
  for (auto _ : state) {
    Block block;
    const uint64_t scrambled = Scramble(++i);
    benchmark::DoNotOptimize(LookUpBlock(Start(scrambled % live) + scrambled % kSize,
                                         static_cast<EventTime>(2), static_cast<EventTime>(2), block));
    if (block.start == 0) state.SkipWithError("a live block was not found");
  }
}

BENCHMARK(BM_InsertErase)->Arg(1000)->Arg(1000000);
BENCHMARK(BM_LookUpInterior)->Arg(1000)->Arg(1000000);

}  // namespace

BENCHMARK_MAIN();
