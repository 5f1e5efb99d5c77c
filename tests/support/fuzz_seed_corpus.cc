// Under libFuzzer: writes the target's seeds into the folder that MEMAGENT_FUZZ_SEEDS names, before
// the corpus is read. Give the same folder on the command line.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/support/fuzz_seeds.h"

// Used when the target has none.
extern "C" [[gnu::weak]] void FuzzSeeds(memagent::testing::SeedList&) {}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* folder = getenv("MEMAGENT_FUZZ_SEEDS");
  if (folder == nullptr) return 0;
  memagent::testing::SeedList seeds;
  FuzzSeeds(seeds);
  for (size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream file(std::string(folder) + "/seed-" + std::to_string(i), std::ios::binary);
    file.write(reinterpret_cast<const char*>(seeds[i].data()),
               static_cast<std::streamsize>(seeds[i].size()));
  }
  return 0;
}
