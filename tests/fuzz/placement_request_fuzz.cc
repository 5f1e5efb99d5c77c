// The words behind --place: refused in a sentence, or a request whose placement the agent takes.
#include <cstdlib>

#include "agent/base/placement_rule.h"
#include "inject/module_file.h"
#include "inject/placement_request.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const char* text :
       {"S1@a.memagent=interleave", "fn:make_grid=bind:1", "fn:Grid::Make(int)@lib.so=block:0+1",
        "S1=local", "fn:=huge", "S12@a=b=nohuge", "@file", "fn:operator==@x=bind:9",
        "_ZN12_GLOBAL__N_13fooEi.part.0"}) {
    memagent::testing::AddSeed(seeds, text);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace inject = memagent::inject;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  inject::PlacementTexts(text);
  inject::IsFunctionNamed(std::string(text.substr(0, size / 2)), text.substr(size / 2));
  inject::PlainName(std::string(text));
  inject::PlacementRequest request;
  std::string problem;
  if (!inject::ParsePlacementRequest(text, {0, 1}, request, problem)) {
    if (problem.empty()) abort();
    return 0;
  }
  memagent::base::PlacementRule rule;
  if (!memagent::base::ParsePlacement(request.placement, rule).empty()) abort();
  if (request.site.empty() == request.function.empty()) abort();
  return 0;
}
