// Raw IBS samples of arbitrary bytes and processors: nothing is read outside, latencies and
// addresses stand only where a register says so, and words and meanings agree. The first byte picks
// the processor.
#include <cstdlib>
#include <iterator>
#include <vector>

#include "agent/decode/data_source.h"
#include "agent/decode/ibs_raw.h"
#include "tests/support/fuzz_seeds.h"
#include "tests/support/ibs_linux.h"

namespace {

using memagent::decode::IbsProcessor;

constexpr IbsProcessor kProcessors[] = {{0x17, 0x31}, {0x19, 0x01}, {0x19, 0x11}, {0x1a, 0x02}, {}};

void Check(bool holds) {
  if (!holds) abort();
}

}  // namespace

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  memagent::testing::IbsRegisters registers;
  registers.data2 = 0x23;
  registers.data3 = 0x1dc14d700a1;
  for (uint8_t processor = 0; processor < 5; ++processor) {
    std::vector<uint8_t> seed = memagent::testing::IbsRaw(registers);
    seed.insert(seed.begin(), processor);
    seeds.push_back(seed);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const IbsProcessor& processor = kProcessors[data[0] % std::size(kProcessors)];
  // A copy of its own length, so that a byte read too many is seen.
  const std::vector<uint8_t> raw(data + 1, data + size);
  const auto op = memagent::decode::ParseIbsOp(raw, processor);
  if (!op) return 0;
  Check(raw.size() >= 60);
  Check(op->width_bytes <= 64);
  Check(op->address_known || op->address == 0);
  Check(op->load || op->miss_cycles == 0);
  const uint64_t word = memagent::decode::IbsDataSource(*op, processor);
  const memagent::DataSource source = memagent::decode::DecodeIbsOp(*op, processor);
  Check((source.op != memagent::MemoryOp::kUnknown) == (op->load || op->store));
  Check(source.level == memagent::decode::DecodeDataSource(word).level);
  return 0;
}
