// The parsers of a node's counters.
#include <cstdlib>

#include "agent/os/node_counters.h"
#include "tests/support/fuzz_seeds.h"

namespace os = memagent::os;

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const char* text :
       {"numa_hit 1\nnuma_miss 2\nnuma_foreign 3\ninterleave_hit 4\nlocal_node 5\n",
        "Node 0 MemTotal:       16384 kB\nNode 0 MemFree:        1234 kB\n",
        "nr_free_pages 1\nnuma_hint_faults 11\nnuma_pages_migrated 12\n"}) {
    memagent::testing::AddSeed(seeds, text);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  os::ParseNumaStat(text);
  os::ParseVmstat(text);
  const auto free_bytes = os::ParseNodeMemFree(text);
  if (free_bytes && *free_bytes % 1024 != 0) abort();
  return 0;
}
