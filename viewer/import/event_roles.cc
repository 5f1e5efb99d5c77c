#include "viewer/import/event_roles.h"

#include <charconv>

#include "viewer/import/perf_format.h"
#include "viewer/import/plain_text.h"

namespace memagent::importer {
namespace {

constexpr uint64_t kWeights = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;

bool Has(const perf_event_attr& attr, uint64_t bits) { return (attr.sample_type & bits) != 0; }

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The PMU of an event; types below 6 are fixed (uapi perf_event.h, enum perf_type_id).
std::string PmuOf(const PerfDataFile& file, const perf_event_attr& attr) {
  const auto known = file.machine.pmus.find(attr.type);
  return known == file.machine.pmus.end() ? "" : known->second;
}

std::string NameOf(const PerfEvent& event, std::string_view pmu) {
  if (!event.name.empty()) return PlainText(event.name);
  return pmu.empty() ? "an event without a name" : PlainText(pmu);
}

bool IsFault(const perf_event_attr& attr) {
  if (attr.type != PERF_TYPE_SOFTWARE || !Has(attr, PERF_SAMPLE_ADDR)) return false;
  return attr.config == PERF_COUNT_SW_PAGE_FAULTS || attr.config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
         attr.config == PERF_COUNT_SW_PAGE_FAULTS_MAJ;
}

bool IsHardware(const perf_event_attr& attr) {
  return attr.type != PERF_TYPE_SOFTWARE && attr.type != PERF_TYPE_TRACEPOINT &&
         attr.type != PERF_TYPE_BREAKPOINT;
}

// Facts: profileme. Bit 8 asks for it without a precise level.
bool IsProfileMe(const PerfDataFile& file, const perf_event_attr& attr) {
  return file.machine.architecture == "alpha" && IsHardware(attr) && Has(attr, PERF_SAMPLE_RAW) &&
         (attr.precise_ip != 0 || (attr.config >> 8 & 1) != 0);
}

// The tracer's facts name its PMU's type as well; where it stands is told in spe_traces.cc.
bool IsTracer(const PerfDataFile& file, const perf_event_attr& attr) {
  if (file.auxtrace_type != kAuxtraceArmSpe || file.auxtrace_facts.size() < 2) return false;
  const bool old = file.auxtrace_facts.size() == 2;
  return attr.type == file.auxtrace_facts[old ? 0 : 2];
}

// On AMD the kernel makes precise cycles and precise ops events of IBS (perf_abi 2.3).
bool IsForwardedToIbs(const PerfDataFile& file, const perf_event_attr& attr) {
  constexpr uint64_t kCycles = 0x76;
  constexpr uint64_t kOps = 0xc1;
  const std::string_view cpu = file.machine.cpu_id;
  if (!cpu.starts_with("AuthenticAMD") && !cpu.starts_with("HygonGenuine")) return false;
  if (attr.type == PERF_TYPE_HARDWARE) return attr.config == PERF_COUNT_HW_CPU_CYCLES;
  return attr.config == kCycles || attr.config == kOps;
}

// Other precise events of a core PMU that tell of accesses are of PEBS.
EngineKind EngineOf(const PerfDataFile& file, const perf_event_attr& attr, std::string_view pmu) {
  if (pmu.starts_with("ibs_op")) return EngineKind::kIbs;
  if (pmu.starts_with("arm_spe") || IsTracer(file, attr)) return EngineKind::kSpe;
  if (IsProfileMe(file, attr)) return EngineKind::kProfileMe;
  if (!Has(attr, PERF_SAMPLE_DATA_SRC) || attr.precise_ip == 0 || !IsHardware(attr)) {
    return EngineKind::kNone;
  }
  return IsForwardedToIbs(file, attr) ? EngineKind::kIbs : EngineKind::kPebs;
}

void DescribeIbs(const perf_event_attr& attr, EventRole& role) {
  constexpr int kCountOps = 19;  // cnt_ctl
  role.period_unit = (attr.config >> kCountOps & 1) != 0 ? "ops" : "cycles";
  role.knows_latency = Has(attr, kWeights | PERF_SAMPLE_RAW);
  role.knows_source = Has(attr, PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_RAW);
  role.tells_loads = role.tells_stores = role.knows_source;
}

// Load latency events count loads; other precise events may be anything.
void DescribePebs(const perf_event_attr& attr, EventRole& role) {
  constexpr uint64_t kLoadLatency = 0x1cd;  // perf_abi 3.1, since Nehalem
  constexpr uint64_t kOldLoadLatency = 0x100b;
  const uint64_t event = attr.config & 0xffff;
  role.tells_stores = Contains(role.name, "store") || Contains(role.name, "STORE");
  role.tells_loads = event == kLoadLatency || event == kOldLoadLatency ||
                     Contains(role.name, "load") || Contains(role.name, "LOAD");
  role.period_unit = "events";
  if (role.tells_loads != role.tells_stores) {
    role.period_unit = role.tells_loads ? "loads" : "stores";
  }
  role.knows_latency = Has(attr, kWeights);
  role.knows_source = true;
}

void Describe(const perf_event_attr& attr, EventRole& role) {
  switch (role.engine) {
    case EngineKind::kIbs:
      return DescribeIbs(attr, role);
    case EngineKind::kPebs:
      return DescribePebs(attr, role);
    case EngineKind::kSpe:
      role.period_unit = "operations";
      role.knows_latency = role.knows_source = role.tells_loads = role.tells_stores = true;
      return;
    case EngineKind::kProfileMe:
      role.period_unit = "events";
      return;
    default:
      return;
  }
}

EventRole RoleOf(const PerfDataFile& file, const PerfEvent& event) {
  const std::string pmu = PmuOf(file, event.attr);
  EventRole role;
  role.name = NameOf(event, pmu);
  if (IsFault(event.attr)) {
    role.use = EventUse::kFault;
    return role;
  }
  if (event.attr.type == PERF_TYPE_SOFTWARE && event.attr.config == PERF_COUNT_SW_DUMMY) {
    role.use = EventUse::kSideBand;
    return role;
  }
  role.engine = EngineOf(file, event.attr, pmu);
  if (role.engine == EngineKind::kNone) return role;
  role.use = role.engine == EngineKind::kSpe ? EventUse::kTrace : EventUse::kAccess;
  Describe(event.attr, role);
  // IBS without both tells of no access.
  if (role.engine == EngineKind::kIbs && !role.knows_source) role.use = EventUse::kNone;
  return role;
}

}  // namespace

std::vector<EventRole> RolesOf(const PerfDataFile& file) {
  std::vector<EventRole> roles;
  for (const PerfEvent& event : file.events) roles.push_back(RoleOf(file, event));
  return roles;
}

uint32_t CpuIdNumber(const PerfMachine& machine, size_t field) {
  std::string_view rest = machine.cpu_id;
  for (size_t i = 0; i < field; ++i) {
    const size_t comma = rest.find(',');
    if (comma == std::string_view::npos) return 0;
    rest.remove_prefix(comma + 1);
  }
  uint32_t number = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), number);
  return number;
}

decode::IbsProcessor ProcessorOf(const PerfMachine& machine) {
  if (!machine.cpu_id.starts_with("AuthenticAMD")) return {};
  return {CpuIdNumber(machine, 1), CpuIdNumber(machine, 2)};
}

}  // namespace memagent::importer
