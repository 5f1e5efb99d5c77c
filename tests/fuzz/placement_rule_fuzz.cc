// The agent's file of placement rules: a line is refused, or it is a rule whose every field is in
// range and lies inside the line; matching it against any stack ends.
#include <cstdlib>

#include "agent/base/placement_rule.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const char* text : {"S1@a=bind:0\tmake < main\tbind:0+3\tinner\tab0c:10-20,30-40\t*",
                           "r\tm\tinterleave:0+1\tany\theaders=0123456789abcdef:1-ffffffffffffffff",
                           "r\tm\tblock:1023\tstack\t*\t*", "r\tm\tlocal\tstack\tab:2-1",
                           "r\tm\thuge:1\tany\t*", "\t\t\t\t", "r\tm\tnohuge\tstack\tab0:1-2"}) {
    memagent::testing::AddSeed(seeds, text);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace base = memagent::base;
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  base::PlacementRule rule;
  if (!base::ParsePlacementRule(line, rule).empty()) return 0;
  if (rule.node_count > base::PlacementRule::kMaxNodes || rule.frames.empty()) abort();
  for (const uint16_t node : rule.node_list()) {
    if (node >= base::PlacementRule::kNodeLimit) abort();
  }
  for (const std::string_view field : {rule.text, rule.meaning, rule.frames}) {
    if (field.data() < line.data() || field.data() + field.size() > line.data() + line.size())
      abort();
  }
  size_t depth = 0;
  const uint8_t build_id[] = {0xab, 0x0c};
  base::RuleMatches(rule, [&](base::CodePlace& place) {
    place = {build_id, 0x0123456789abcdef, depth * 16};
    return ++depth < 200;
  });
  return depth > 200 ? (abort(), 0) : 0;
}
