// Runs a fuzz entry point without libFuzzer: over every file named on the command line, or, with
// none, over a fixed set of random and mutated inputs, so that each fuzzer is also an ordinary
// test.
//
// The inputs are the same on every run (seeded with a constant). A target may add seeds of its own
// by defining FuzzSeeds.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/support/fuzz_seeds.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// Used when the target has none.
extern "C" [[gnu::weak]] void FuzzSeeds(memagent::testing::SeedList&) {}

namespace {

using Input = std::vector<uint8_t>;

constexpr int kDefaultCount = 20'000;
constexpr size_t kMaxRandomBytes = 512;

// From an exactly sized allocation, so that a sanitizer sees the first byte read too many.
void RunOne(const Input& input) {
  const Input exact(input.begin(), input.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

Input RandomInput(std::mt19937& random) {
  Input input(random() % kMaxRandomBytes);
  for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
  return input;
}

void MutateOnce(Input& input, std::mt19937& random) {
  const size_t at = input.empty() ? 0 : random() % input.size();
  const auto position = input.begin() + static_cast<long>(at);
  switch (random() % 6) {
    case 0:
      if (!input.empty()) input[at] = static_cast<uint8_t>(random());
      break;
    case 1:
      if (!input.empty()) input[at] ^= static_cast<uint8_t>(1u << random() % 8);
      break;
    case 2:
      input.insert(position, static_cast<uint8_t>(random()));
      break;
    case 3:
      input.resize(at);
      break;
    case 4:
      if (!input.empty()) input.erase(position);
      break;
    default:
      // 0, 0xff, a digit: what lengths and numbers break on.
      if (!input.empty())
        input[at] = static_cast<uint8_t>(
            "\0\xff"
            "9-, \n/"[random() % 8]);
  }
}

Input MutatedSeed(const memagent::testing::SeedList& seeds, std::mt19937& random) {
  Input input = seeds[random() % seeds.size()];
  for (auto count = 1 + random() % 8; count > 0; --count) MutateOnce(input, random);
  return input;
}

int RunFiles(int count, char** names) {
  for (int i = 0; i < count; ++i) {
    std::ifstream file(names[i], std::ios::binary);
    if (!file) {
      fprintf(stderr, "%s can't be read.\n", names[i]);
      return 1;
    }
    RunOne(Input(std::istreambuf_iterator<char>(file), {}));
  }
  printf("%d files run\n", count);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) return RunFiles(argc - 1, argv + 1);
  const char* wanted = getenv("MEMAGENT_FUZZ_COUNT");
  const int count = wanted != nullptr ? atoi(wanted) : kDefaultCount;
  memagent::testing::SeedList seeds;
  FuzzSeeds(seeds);
  seeds.emplace_back();
  for (const Input& seed : seeds) RunOne(seed);
  std::mt19937 random(20260101);
  for (int i = 0; i < count; ++i) {
    RunOne(i % 4 == 0 ? RandomInput(random) : MutatedSeed(seeds, random));
  }
  printf("%zu seeds and %d inputs run\n", seeds.size(), count);
  return 0;
}
