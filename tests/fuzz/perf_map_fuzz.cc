// ParsePerfMapLine: what it accepts has a name, which is part of the line.
#include <cstdlib>

#include "agent/os/perf_map.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const char* text : {"7f00aa10 1c0 f\n", "0 0 a b c", "ffffffffffffffff 1 x", "1 2 \n"}) {
    memagent::testing::AddSeed(seeds, text);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto line = memagent::os::ParsePerfMapLine(text);
  if (line && (line->name.empty() || text.find(line->name) == std::string_view::npos)) abort();
  return 0;
}
