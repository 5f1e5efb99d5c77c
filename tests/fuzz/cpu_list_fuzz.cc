// ParseCpuList: whatever it accepts is ascending and bounded.
#include <cstdlib>

#include "agent/os/cpu_list.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const char* text : {"0-3,8,10-11\n", "0\n", "\n", "0-8191", "1,3,5,7-9,4095"}) {
    memagent::testing::AddSeed(seeds, text);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto numbers = memagent::os::ParseCpuList(text);
  if (!numbers) return 0;
  if (numbers->size() > memagent::os::kMaxListedNumber) abort();
  for (size_t i = 0; i < numbers->size(); ++i) {
    if ((*numbers)[i] >= memagent::os::kMaxListedNumber) abort();
    if (i > 0 && (*numbers)[i] <= (*numbers)[i - 1]) abort();
  }
  return 0;
}
