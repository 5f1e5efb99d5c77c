// The parser of /proc/PID/maps: what it accepts keeps its promises.
#include <algorithm>
#include <cstdlib>

#include "agent/os/proc_maps.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const char* text :
       {"7f1200000000-7f1200021000 r-xp 0001a000 fe:01 1234                      "
        "/usr/lib/libm.so.6\n",
        "7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]\n",
        "1000-2000 r--s 0 0:0 7    /tmp/a b (deleted)\n2000-3000 ---p 00000000 00:00 0 \n"}) {
    memagent::testing::AddSeed(seeds, text);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  size_t good = 0;
  const size_t bad = memagent::os::ForEachMapping(text, [&](const memagent::os::Mapping& mapping) {
    ++good;
    if (mapping.start >= mapping.end) abort();
    if (mapping.path.size() > size) abort();
    if (!mapping.path.empty() && (mapping.path.data() < text.data() ||
                                  mapping.path.data() + mapping.path.size() > text.data() + size)) {
      abort();
    }
  });
  if (good + bad > static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1) abort();
  return 0;
}
