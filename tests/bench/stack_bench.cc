// Cost of one call-stack capture, by depth and by how familiar the stack is. Compare with glibc's
// backtrace() on the same stack: about 190 ns a frame.
//
//   stack_bench --benchmark_min_time=0.2
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <cstdint>

#include "agent/capture/frame_start.h"
#include "agent/capture/stack_capture.h"
#include "agent/capture/unwind_table.h"

namespace {

using memagent::StackId;
using memagent::capture::CaptureStack;
using memagent::capture::CreateStackCache;
using memagent::capture::FrameStart;
using memagent::capture::StackCache;

enum class Mode { kNothing, kCached, kUncached, kBacktrace };

StackCache* cache;
Mode mode;
uint64_t frames;

[[gnu::noinline]] void Leaf() {
  const FrameStart start = MEMAGENT_CALLER();
  switch (mode) {
    case Mode::kNothing:
      break;
    case Mode::kCached:
      benchmark::DoNotOptimize(CaptureStack(start, cache));
      break;
    case Mode::kUncached:
      benchmark::DoNotOptimize(CaptureStack(start, nullptr));
      break;
    case Mode::kBacktrace: {
      void* buffer[128];
      frames = static_cast<uint64_t>(backtrace(buffer, 128));
      break;
    }
  }
}

// Two call sites in every level: bit `depth` of `path` chooses, so that stacks of equal depth have
// equal stack pointers and differ only in return addresses.
[[gnu::noinline]] void Descend(unsigned depth, uint64_t path) {
  if (depth == 0) {
    Leaf();
  } else if ((path >> depth & 1) != 0) {
    Descend(depth - 1, path);
    asm volatile("");
  } else {
    Descend(depth - 1, path);
    asm volatile("nop");
  }
  asm volatile("");
}

uint64_t Scramble(uint64_t i) { return i * 0x9e3779b97f4a7c15ull >> 20; }

// range(0): depth; range(1): number of different stacks, visited in scrambled order.
void Run(benchmark::State& state, Mode chosen) {
  if (cache == nullptr) cache = CreateStackCache();
  mode = chosen;
  const auto depth = static_cast<unsigned>(state.range(0));
  const auto stacks = static_cast<uint64_t>(state.range(1));
  uint64_t i = 0;
  for (auto _ : state) Descend(depth, Scramble(Scramble(i++) % stacks));
}

void BM_CallsOnly(benchmark::State& state) { Run(state, Mode::kNothing); }
void BM_Capture(benchmark::State& state) { Run(state, Mode::kCached); }
void BM_CaptureWithoutCache(benchmark::State& state) { Run(state, Mode::kUncached); }
void BM_Backtrace(benchmark::State& state) {
  Run(state, Mode::kBacktrace);
  state.counters["frames"] = static_cast<double>(frames);
}

// Every stack is new to the cache and to the trie, its code addresses are known.
void BM_NewStack(benchmark::State& state) {
  if (cache == nullptr) cache = CreateStackCache();
  mode = Mode::kCached;
  const auto depth = static_cast<unsigned>(state.range(0));
  static uint64_t next = 0;
  for (auto _ : state) Descend(depth, Scramble(++next));
}

// Compiling the rule of one code address.
void BM_NewAddress(benchmark::State& state) {
  const auto start = reinterpret_cast<uintptr_t>(dlsym(RTLD_DEFAULT, "qsort"));
  uintptr_t offset = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(memagent::capture::CompileAndInsert(start + offset++ % 4096));
  }
}

void Shapes(benchmark::internal::Benchmark* b) {
  for (int stacks : {1, 64, 2048}) {
    for (int depth : {4, 8, 16, 32, 64}) b->Args({depth, stacks});
  }
}

BENCHMARK(BM_CallsOnly)->Apply(Shapes);
BENCHMARK(BM_Capture)->Apply(Shapes);
BENCHMARK(BM_CaptureWithoutCache)->Args({16, 1})->Args({16, 64})->Args({32, 1});
BENCHMARK(BM_NewStack)->Arg(16)->Arg(32)->Iterations(40000);
BENCHMARK(BM_NewAddress);
BENCHMARK(BM_Backtrace)->Args({16, 1})->Args({32, 1});

}  // namespace

BENCHMARK_MAIN();
