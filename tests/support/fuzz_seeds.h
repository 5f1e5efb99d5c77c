// Seeds of a fuzz target, for runs without libFuzzer (tests/support/fuzz_replay_main.cc). A target
// that has some defines: extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds).
#ifndef MEMAGENT_TESTS_SUPPORT_FUZZ_SEEDS_H_
#define MEMAGENT_TESTS_SUPPORT_FUZZ_SEEDS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace memagent::testing {

using SeedList = std::vector<std::vector<uint8_t>>;

inline void AddSeed(SeedList& seeds, std::string_view text) {
  seeds.emplace_back(text.begin(), text.end());
}

// A literal with zero bytes in it.
template <size_t kSize>
void AddBytes(SeedList& seeds, const char (&literal)[kSize]) {
  AddSeed(seeds, std::string_view(literal, kSize - 1));
}

}  // namespace memagent::testing

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds);

#endif  // MEMAGENT_TESTS_SUPPORT_FUZZ_SEEDS_H_
