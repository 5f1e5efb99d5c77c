// An allocation log of any bytes: events in order, names that exist, and blocks that are found
// where they were put.
#include <cstdlib>

#include "tests/support/fuzz_seeds.h"
#include "viewer/import/logged_blocks.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const char* text :
       {"1.5 10 alloc 0x1000 64 grid;main\n2 10 free 0x1000\n",
        "# comment\n\n3 1 alloc 8192 32\r\n",
        "1 1 alloc 4096 64 a\n1 1 alloc 4100 64 b\n0 1 free 4096\n", "x 1 free 1\n1 1 free"}) {
    memagent::testing::AddSeed(seeds, text);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace memagent::importer;
  const AllocationLog log = ParseAllocationLog({reinterpret_cast<const char*>(data), size});
  LoggedBlocks blocks(log);
  uint64_t last = 0;
  for (const LoggedEvent& event : log.events) {
    if (event.time_nanos < last || (!event.is_free && event.name >= log.names.size())) abort();
    last = event.time_nanos;
  }
  blocks.Advance(UINT64_MAX);
  for (const LoggedCounts& counts : blocks.counts()) {
    if (counts.frees > counts.allocations || counts.bytes_freed > counts.bytes_allocated) abort();
  }
  if (!log.events.empty() && !log.events.back().is_free) {
    const LoggedEvent& newest = log.events.back();
    const auto found = blocks.Find(newest.pid, newest.address);
    if (newest.size_bytes > 0 && found != newest.name) abort();
  }
  return 0;
}
