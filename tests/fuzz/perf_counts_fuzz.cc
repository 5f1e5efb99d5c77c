// What read(2) of a perf event returns, in every read_format. Input: the format, then words.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "agent/os/perf_event.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  std::vector<uint8_t> seed(1 + 5 * sizeof(uint64_t), 1);
  for (const uint8_t format : {0x00, 0x03, 0x04, 0x17, 0x1f}) {
    seed[0] = format;
    seeds.push_back(seed);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // Exactly as long as the bytes, so that a word read too many is seen.
  std::vector<uint64_t> words((size - 1) / sizeof(uint64_t));
  if (!words.empty()) std::memcpy(words.data(), data + 1, words.size() * sizeof(uint64_t));
  const auto counts = memagent::os::ParsePerfCounts(words, data[0]);
  if (counts && words.empty()) abort();
  return 0;
}
