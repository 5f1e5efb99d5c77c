#include "agent/runtime/machine_facts.h"

#include "agent/base/engine_names.h"
#include "agent/base/syscall.h"
#include "agent/os/file.h"
#include "agent/os/perf_attr_text.h"
#include "agent/runtime/version.h"

namespace memagent::runtime {
namespace {

base::String ReadLink(const char* path) {
  char target[4096];
  const long length =
      base::Syscall(SYS_readlinkat, -100 /* AT_FDCWD */, path, target, sizeof(target));
  return length > 0 ? base::String(target, static_cast<size_t>(length)) : base::String();
}

ProcessFacts ReadProcess() {
  ProcessFacts process;
  process.executable = ReadLink("/proc/thread-self/exe");
  process.working_directory = ReadLink("/proc/thread-self/cwd");
  // Arguments beyond 64 KiB are cut: a profile is no place for a file list.
  if (const auto text = os::ReadFileHead("/proc/thread-self/cmdline", size_t{64} << 10)) {
    std::string_view rest = *text;
    while (!rest.empty()) process.arguments.emplace_back(os::TakeUntil(rest, '\0'));
  }
  return process;
}

profile::EngineData RefusedEngine(const capture::EngineRefusal& refusal) {
  profile::EngineData data;
  data.kind = refusal.engine;
  data.refused = refusal.reason;
  data.remedy = refusal.remedy;
  return data;
}

// An engine that could not be opened, or did nothing.
profile::EngineData FailedEngine(const EngineFailure& failure, const EarlyFacts& early) {
  const capture::EngineError why = ExplainFailure(failure, early);
  profile::EngineData data;
  data.kind = failure.engine;
  data.refused = why.meaning;
  data.refused_errno = failure.error;
  data.remedy = why.remedy;
  return data;
}

profile::EngineData UsedEngine(const EngineInUse& engine, const capture::SkidCalibration& skid,
                               const base::String& words) {
  profile::EngineData data;
  data.in_use = true;
  data.fault_period = engine.minor_faults == nullptr ? 0 : engine.minor_faults->attr.sample_period;
  if (engine.access == nullptr) return data;  // kind NONE: allocations and page faults only
  data.kind = engine.plan->engine;
  data.event = engine.access->event;
  data.period = engine.plan->period;
  data.period_unit = engine.plan->period_unit;
  const bool hardware = engine.plan->engine != EngineKind::kSoftware;
  if (!hardware) data.rate_hz = 1e9 / static_cast<double>(engine.plan->period);
  // ProfileMe names no data.
  const bool knows_access = hardware && engine.plan->engine != EngineKind::kProfileMe;
  data.knows_latency = data.knows_data_source = data.knows_loads_and_stores = knows_access;
  data.exact_attr = words;
  data.skid_ticks_on_next = skid.ticks_on_next;
  data.skid_ticks_total = skid.ticks_total;
  return data;
}

base::Vector<profile::EngineData> UnusedEngines(const capture::EventSelection& selection,
                                                const EngineInUse& engine,
                                                const EarlyFacts& early) {
  base::Vector<profile::EngineData> engines;
  for (const capture::EngineRefusal& refusal : selection.refusals) {
    engines.push_back(RefusedEngine(refusal));
  }
  for (const EngineFailure& failure : engine.failures) {
    engines.push_back(FailedEngine(failure, early));
  }
  return engines;
}

profile::KernelData KernelOf(const EarlyFacts& early, const LateFacts& late) {
  const os::KernelSettings& kernel = early.kernel;
  return {late.machine.kernel_release, kernel.perf_event_paranoid,
          kernel.max_sample_rate,      kernel.mlock_kib,
          kernel.transparent_hugepage, kernel.numa_balancing};
}

base::Vector<profile::NodeData> NodesOf(const os::Topology& topology) {
  base::Vector<profile::NodeData> nodes;
  for (const os::Node& node : topology.nodes) {
    nodes.push_back({static_cast<uint32_t>(node.id), node.cpu_list, node.memory_total_bytes});
  }
  return nodes;
}

}  // namespace

LateFacts ReadLateFacts(const EarlyFacts& early) {
  return {os::ReadMachine(early.cpu), os::ReadTopology(), ReadProcess()};
}

capture::EventSelection Select(const EarlyFacts& facts, const base::Options& options) {
  capture::EventRequest request;
  request.automatic = options.engine.view() == "auto";
  request.engine = base::EngineNamed(options.engine.view());
  request.rate_hz = options.rate;
  request.period = options.period;
  request.fault_period = options.fault_period;
  request.latency_cycles = options.ldlat;
  request.l3_miss_only = options.l3_miss_only;
  return capture::SelectEvents(facts, request);
}

bool WriteHeader(profile::ProfileWriter& writer, const SessionControl& control,
                 const EarlyFacts& early, const LateFacts& late,
                 const capture::EventSelection& selection, const EngineInUse& engine,
                 const capture::SkidCalibration& skid, Nanos started, uint64_t started_unix) {
  const base::Vector<profile::NodeData> nodes = NodesOf(late.topology);
  base::Vector<int32_t> cpu_nodes;
  for (NodeId node : late.topology.node_of_cpu) cpu_nodes.push_back(static_cast<int32_t>(node));
  base::Vector<std::string_view> arguments(late.process.arguments.begin(),
                                           late.process.arguments.end());
  base::String words;
  if (engine.access != nullptr) words = os::PerfAttrText(engine.access->attr);
  base::Vector<profile::EngineData> engines = UnusedEngines(selection, engine, early);
  engines.push_back(UsedEngine(engine, skid, words));
  profile::HeaderData header;
  header.agent_version = kVersion;
  header.start_unix_nanos = started_unix;
  header.start_monotonic = started;
  header.process = {static_cast<uint32_t>(control.pid),
                    static_cast<uint32_t>(base::Syscall(SYS_getppid)),
                    late.process.executable,
                    arguments,
                    late.process.working_directory,
                    late.machine.host_name,
                    control.forked};
  const os::CpuInfo& cpu = late.machine.cpu;
  header.machine = {late.machine.architecture,
                    cpu.model_name,
                    cpu.family,
                    cpu.model,
                    cpu.stepping,
                    cpu.microcode,
                    late.machine.hypervisor,
                    static_cast<uint32_t>(late.machine.page_bytes),
                    cpu.cache_line_bytes,
                    nodes,
                    late.topology.distances,
                    cpu_nodes};
  header.kernel = KernelOf(early, late);
  header.engines = engines;
  header.options = control.settings->effective.view();
  return writer.WriteHeader(header);
}

}  // namespace memagent::runtime
