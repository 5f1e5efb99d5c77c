#include "inject/capabilities.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "agent/base/options.h"
#include "agent/capture/skid_calibration.h"
#include "agent/os/machine.h"
#include "agent/os/page_nodes.h"
#include "agent/os/topology.h"
#include "agent/os/zydis_library.h"
#include "inject/engine_probe.h"
#include "inject/surroundings.h"

namespace memagent::inject {
namespace {

std::string Text(std::string_view view) { return std::string(view); }

// Page faults, as the agent records them for first touch.
Finding FirstTouchFinding(const capture::EngineFacts& facts, const capture::EventLadder& ladder) {
  const EventFinding event = ProbeLadder(facts, EngineKind::kSoftware, ladder);
  if (event.opens) {
    const std::string lacks = event.lacks.empty() ? "" : " " + event.lacks;
    return {"first_touch", true, event.event + " opens." + lacks, ""};
  }
  if (event.refused.empty()) return {"first_touch", false, "There is no event to try.", ""};
  const RefusedAttempt& last = event.refused.back();
  return {"first_touch", false, last.event + ": " + last.cause, last.remedy};
}

Finding DecoderFinding() {
  const os::ZydisLoad load = os::LoadZydis();
  if (load.loaded)
    return {"decoder", true, "libZydis is loaded: sampled instructions are decoded.", ""};
  return {"decoder", false, load.reason, "Install libzydis4.0 (apt-get install libzydis4.0)."};
}

Finding SkidFinding() {
  const capture::SkidCalibration skid = capture::CalibrateSkid();
  const std::string ticks = std::to_string(skid.ticks_on_next) + " of " +
                            std::to_string(skid.ticks_total) +
                            " calibration ticks were on the instruction after the access.";
  if (skid.holds()) return {"skid", true, ticks, ""};
  if (skid.ticks_total == 0) {
    return {"skid", false, "The interrupt's place could not be measured.",
            "See the engines above."};
  }
  return {"skid", false, ticks,
          "Samples of the software engine may name the wrong instruction here: prefer a hardware "
          "engine."};
}

// Asks for the node of one page that is present, on each rung that the kernel allows.
Finding PageNodesFinding() {
  std::array<char, 64> here = {1};
  const std::array<uint64_t, 1> pages = {reinterpret_cast<uint64_t>(here.data())};
  std::array<os::PageAnswer, 1> answers;
  os::PageNodes lookup;
  lookup.Lookup(pages, answers);
  const std::string rung = Text(os::RungName(lookup.rung()));
  if (lookup.rung() == os::PageNodeRung::kMovePages) {
    return {"page_nodes", true, "move_pages tells the node of each page.", ""};
  }
  const std::string remedy =
      "Allow move_pages (containers: a seccomp profile with it; Docker's default has it in no "
      "rule).";
  if (lookup.rung() == os::PageNodeRung::kNone) {
    return {"page_nodes", false, "No system call tells the node of a page here.", remedy};
  }
  return {"page_nodes", true, "move_pages is refused; " + rung + " is used instead.", remedy};
}

void AddNodes(const os::Topology& topology, Capabilities& result) {
  for (const os::Node& node : topology.nodes) {
    result.nodes.push_back(
        {static_cast<int>(node.id), Text(node.cpu_list), node.memory_total_bytes});
  }
  result.distances.assign(topology.distances.begin(), topology.distances.end());
}

// Those that the agent knows to sample accesses; a core PMU does when it has the event for it.
bool SamplesAccesses(const os::Pmu& pmu) {
  return !pmu.name.starts_with("cpu") || pmu.FindEvent("mem-loads") != nullptr ||
         pmu.FindField("profileme") != nullptr;
}

void AddPmus(const os::PmuFacts& facts, Capabilities& result) {
  for (const base::String& name : facts.names) {
    PmuFinding finding{Text(name), false, ""};
    if (const os::Pmu* pmu = facts.Find(name)) {
      finding.samples_accesses = SamplesAccesses(*pmu);
      finding.cpus = Text(pmu->cpus);
    }
    result.pmus.push_back(std::move(finding));
  }
}

uint64_t LimitOf(int resource) {
  rlimit limit = {};
  getrlimit(static_cast<__rlimit_resource>(resource), &limit);
  return limit.rlim_cur == RLIM_INFINITY ? kUnlimited : limit.rlim_cur;
}

// Minor and major faults, and what the chosen engine opens.
uint64_t DescriptorsPerThread(const std::vector<EngineFinding>& engines) {
  uint64_t count = 2;
  for (const EngineFinding& engine : engines) {
    if (!engine.chosen) continue;
    for (const EventFinding& event : engine.events) {
      count += static_cast<uint64_t>(event.opens) + static_cast<uint64_t>(!event.leader.empty());
    }
  }
  return count;
}

Budgets ReadBudgets(const Capabilities& result) {
  BudgetInputs inputs;
  inputs.descriptor_limit = LimitOf(RLIMIT_NOFILE);
  inputs.memlock_limit_bytes = LimitOf(RLIMIT_MEMLOCK);
  inputs.mlock_kib = result.mlock_kib;
  inputs.online_cpus = static_cast<uint64_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  inputs.page_bytes = os::PageBytes();
  inputs.may_lock_all =
      result.perf_event_paranoid < 0 || (result.rights.ipc_lock && !result.rights.user_namespace);
  inputs.descriptors_per_thread = DescriptorsPerThread(result.engines);
  inputs.ring_pages = base::Options().ring_pages;
  return ComputeBudgets(inputs);
}

void AddKernel(const os::KernelSettings& kernel, Capabilities& result) {
  result.perf_event_paranoid = kernel.perf_event_paranoid;
  result.mlock_kib = kernel.mlock_kib;
  result.max_sample_rate = kernel.max_sample_rate;
  result.transparent_hugepage = Text(kernel.transparent_hugepage);
  result.numa_balancing = kernel.numa_balancing;
}

void AddEngines(const capture::EngineFacts& facts, const capture::EventSelection& selection,
                Capabilities& result) {
  result.engines = ProbeEngines(facts, selection);
  for (const EngineFinding& engine : result.engines) {
    if (!engine.chosen) continue;
    result.engine = engine.name;
    result.engine_is_hardware = engine.name != "software";
  }
}

}  // namespace

Capabilities ProbeCapabilities() {
  Capabilities result;
  result.system_calls = ProbeSystemCalls();
  const capture::EngineFacts facts = capture::ReadEngineFacts();
  const os::Machine machine = os::ReadMachine(facts.cpu);
  result.cpu = Text(machine.cpu.model_name);
  result.kernel = Text(machine.kernel_release);
  result.hypervisor = Text(machine.hypervisor);
  AddKernel(facts.kernel, result);
  AddNodes(os::ReadTopology(), result);
  AddPmus(facts.pmus, result);
  result.rights = ReadRights(facts.privileges);
  const capture::EventSelection selection = capture::SelectEvents(facts, {});
  AddEngines(facts, selection, result);
  result.budgets = ReadBudgets(result);
  result.features.push_back(FirstTouchFinding(facts, selection.minor_faults));
  result.features.push_back(DecoderFinding());
  result.features.push_back(SkidFinding());
  result.features.push_back(PageNodesFinding());
  return result;
}

int CapabilitiesExitStatus(const Capabilities& capabilities) {
  if (capabilities.engine == "none") return 3;
  return capabilities.engine_is_hardware ? 0 : 1;
}

}  // namespace memagent::inject
