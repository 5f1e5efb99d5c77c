// Files of a PMU in sysfs: format/, events/, and what is written into an attr from them.
#include <cstdlib>
#include <cstring>

#include "agent/os/machine.h"
#include "agent/os/perf_event.h"
#include "agent/os/pmu.h"
#include "tests/support/fuzz_seeds.h"

namespace {

namespace os = memagent::os;

// Every bit that the terms set must be one that the field has.
void SetEverything(const os::Pmu& pmu, uint64_t value) {
  uint64_t allowed[5] = {};
  for (const os::PmuBits& bits : pmu.fields.front().bits) {
    if (bits.word > 4 || bits.first > bits.last || bits.last > 63) abort();
    for (unsigned bit = bits.first; bit <= bits.last; ++bit) {
      allowed[bits.word] |= uint64_t{1} << bit;
    }
  }
  perf_event_attr attr = os::NewPerfAttr(0, 0);
  os::SetPmuField(pmu, "field", value, attr);
  os::SetPmuEvent(pmu, "event", attr);
  if ((attr.config & ~allowed[0]) != 0 || (attr.config1 & ~allowed[1]) != 0 ||
      (attr.config2 & ~allowed[2]) != 0) {
    abort();
  }
}

}  // namespace

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const char* text :
       {"config:0-7,32-35", "config1:0-15", "config2:0", "config4:0-63", "config:0-7,",
        "event=0xcd,umask=0x1,ldlat=3", "field=0x82,field=1", "event=?", "edge,inv=1",
        "6.12.117+deb13-amd64", "config:0-63,0-63\nfield=0xffffffffffffffff"}) {
    memagent::testing::AddSeed(seeds, text);
  }
}

// A line for format/field, and a line for events/event.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  os::ParseKernelVersion(text);
  const size_t end = text.find('\n');
  const auto bits = os::ParsePmuBits(text.substr(0, end));
  const auto terms = os::ParsePmuTerms(end == std::string_view::npos ? text : text.substr(end + 1));
  if (terms && terms->empty()) abort();
  if (!bits) return 0;
  os::Pmu pmu;
  pmu.fields.push_back({"field", *bits});
  if (terms) pmu.events.push_back({"event", *terms});
  uint64_t value = 0;
  memcpy(&value, data, size < sizeof(value) ? size : sizeof(value));
  SetEverything(pmu, value);
  return 0;
}
