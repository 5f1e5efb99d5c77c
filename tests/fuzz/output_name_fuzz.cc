// The pattern of output=, with the same text as a program's and a host's name, which anybody may
// choose: no value adds a folder.
#include <algorithm>
#include <cstdlib>

#include "agent/profile/output_name.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const char* text :
       {"%e.%p.memagent", "/tmp/%h/%t-%r.memagent", "a%%b%", "../x/%e%e%q", ""}) {
    memagent::testing::AddSeed(seeds, text);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace profile = memagent::profile;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const profile::OutputFacts facts = {text, 4711, text, 1'700'000'000, text, "/srv/dir"};
  const auto path = profile::ExpandPattern(text, facts);
  const auto slashes = std::count(text.begin(), text.end(), '/');
  if (std::count(path.begin(), path.end(), '/') > slashes + 3) abort();  // "/srv/dir/" in front
  if (!text.empty() && path[0] != '/') abort();
  for (const uint32_t number : {0u, 3u, ~0u}) {
    const auto numbered = profile::NumberedName(path, number);
    if (numbered.size() < path.size() || numbered.size() > path.size() + 11) abort();
  }
  return 0;
}
