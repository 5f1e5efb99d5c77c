// The decoder of perf_mem_data_src over arbitrary words: values of its enums only, and the same
// meaning whatever the bits say that no field owns.
#include <cstdlib>
#include <cstring>

#include "agent/decode/data_source.h"
#include "tests/support/fuzz_seeds.h"

namespace {

using memagent::DataSource;

void Check(bool holds) {
  if (!holds) abort();
}

}  // namespace

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const uint64_t word : {0x103a29082042, 0x11e68120042, 0x1c11a68100042, 0x10668080082}) {
    uint8_t bytes[sizeof(word)];
    std::memcpy(bytes, &word, sizeof(word));
    seeds.emplace_back(bytes, bytes + sizeof(word));
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint64_t word = 0;
  if (size < sizeof(word)) return 0;
  std::memcpy(&word, data, sizeof(word));
  const DataSource source = memagent::decode::DecodeDataSource(word);
  Check(static_cast<size_t>(source.op) < memagent::kMemoryOpCount);
  Check(static_cast<size_t>(source.level) < memagent::kMemoryLevelCount);
  Check(static_cast<size_t>(source.locality) < memagent::kLocalityCount);
  Check(static_cast<size_t>(source.snoop) < memagent::kSnoopCount);
  Check(source.tlb <= memagent::TlbLevel::kFault);
  constexpr uint64_t kReserved = ~uint64_t{0} << 51;
  Check(memagent::decode::DecodeDataSource(word ^ kReserved) == source);
  return 0;
}
