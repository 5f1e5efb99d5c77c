// The machine's PMUs that sample memory accesses, as sysfs describes them: numbers, names and
// strings, nothing decided (facts: perf_abi 2.1, 3.1, 4.1).
//
// Read once at session start in the drain thread, while the host waits: of each PMU only the files
// that some engine asks for. `sys_root` is where sysfs is mounted ("/sys"), or a copy of it.
#ifndef MEMAGENT_AGENT_OS_PMU_H_
#define MEMAGENT_AGENT_OS_PMU_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/base/containers.h"

namespace memagent::os {

// Bits first..last of one of perf_event_attr's words config, config1, ... config4.
struct PmuBits {
  uint8_t word = 0;
  uint8_t first = 0;
  uint8_t last = 0;
};

// A file of format/: where the value of a name goes, its lowest bits into the first range.
struct PmuField {
  base::String name;
  base::Vector<PmuBits> bits;
};

struct PmuTerm {
  base::String name;
  uint64_t value = 0;
};

// A file of events/.
struct PmuEvent {
  base::String name;
  base::Vector<PmuTerm> terms;
};

// A file of caps/.
struct PmuCap {
  base::String name;
  base::String text;
};

struct Pmu {
  base::String name;  // "ibs_op", "cpu_core", "arm_spe_0"
  uint32_t type = 0;  // for perf_event_attr.type
  base::String cpus;  // CPUs that it covers, "0-3,8"; "" means all
  base::Vector<PmuField> fields;
  base::Vector<PmuEvent> events;
  base::Vector<PmuCap> caps;

  const PmuField* FindField(std::string_view field) const;
  const PmuEvent* FindEvent(std::string_view event) const;
  // Decimal, or hexadecimal after "0x"; nullopt when there is no such file or no number in it.
  std::optional<uint64_t> CapNumber(std::string_view cap) const;
};

struct PmuFacts {
  bool sysfs = false;                // the list of event sources is readable at all
  base::Vector<base::String> names;  // of every PMU, also of those that sample no memory accesses
  base::Vector<Pmu> pmus;            // ibs_op, cpu and cpu_*, arm_spe_*: those that can

  const Pmu* Find(std::string_view name) const;
};
PmuFacts ReadPmuFacts(std::string_view sys_root = "/sys");

// Pure. "config:0-7,32-35", "config1:0-15", "config:19". nullopt for anything else.
std::optional<base::Vector<PmuBits>> ParsePmuBits(std::string_view text);

// Pure. "event=0xcd,umask=0x1,ldlat=3"; a term without a value stands for 1. nullopt for anything
// else ("?" among it, which asks the user for a value).
std::optional<base::Vector<PmuTerm>> ParsePmuTerms(std::string_view text);

// Pure. Writes `value` where the PMU wants it. False, and nothing written, when the PMU has no such
// field, the value is too wide for it, or this build's perf_event_attr lacks the word.
bool SetPmuField(const Pmu& pmu, std::string_view field, uint64_t value, perf_event_attr& attr);

// Pure. All terms of an event of the PMU's; false when one of them can't be set.
bool SetPmuEvent(const Pmu& pmu, std::string_view event, perf_event_attr& attr);

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_PMU_H_
