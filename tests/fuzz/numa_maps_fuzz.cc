// The parser of numa_maps, alone and as the rung of the node lookup that reads it.
#include <array>
#include <cstdlib>

#include "agent/os/page_nodes.h"
#include "tests/support/fuzz_seeds.h"

namespace {

namespace os = memagent::os;

// Every rung but numa_maps is refused.
os::PageNodeCalls CallsReading(std::string_view& text) {
  os::PageNodeCalls calls;
  calls.context = &text;
  calls.move_pages = [](void*, std::span<const uint64_t>, int*) { return -38L; };
  calls.get_mempolicy = [](void*, uint64_t) { return -38L; };
  calls.presence = [](void*, uint64_t) { return -38L; };
  calls.read_numa_maps = [](void* context) {
    return std::optional(memagent::base::String(*static_cast<std::string_view*>(context)));
  };
  return calls;
}

}  // namespace

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const char* text :
       {"7f1200000000 default file=/usr/lib/x mapped=3 active=0 N0=2 N1=1 kernelpagesize_kB=4\n",
        "1000 bind:0-1 anon=1 dirty=1 N1=1 kernelpagesize_kB=4\n400000 default stack N0=7\n",
        "2000 prefer:1 file=/tmp/a N0=b mapped=1 N0=1\n"}) {
    memagent::testing::AddSeed(seeds, text);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto line = os::ParseNumaMapsLine(text);
  if (line && static_cast<int>(line->only_node) < -1) abort();
  os::PageNodes nodes(CallsReading(text));
  const std::array<uint64_t, 3> pages = {0, 0x1000, 0x7f1200000000};
  std::array<os::PageAnswer, 3> answers;
  nodes.Lookup(pages, answers);
  for (const os::PageAnswer& answer : answers) {
    if (answer.state == os::PageState::kOnNode && static_cast<int>(answer.node) < 0) abort();
  }
  return 0;
}
