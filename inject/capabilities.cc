#include "inject/capabilities.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "agent/base/engine_names.h"
#include "agent/capture/engine_errors.h"
#include "agent/capture/event_selection.h"
#include "agent/capture/skid_calibration.h"
#include "agent/os/machine.h"
#include "agent/os/page_nodes.h"
#include "agent/os/perf_event.h"
#include "agent/os/topology.h"
#include "agent/os/zydis_library.h"

namespace memagent::inject {
namespace {

using capture::EventLadder;
using capture::EventSelection;

std::string Text(std::string_view view) { return std::string(view); }

// Opens the events of a ladder in turn, as the agent does, until one is accepted.
Finding TryLadder(const std::string& name, const EventLadder& ladder, int paranoid) {
  Finding finding{name, false, "there is no event to try.", ""};
  for (const capture::EventAttempt& attempt : ladder) {
    perf_event_attr attr = attempt.attr;
    const long fd = os::OpenPerfEvent(attr, {});
    if (fd >= 0) {
      close(static_cast<int>(fd));
      const std::string loss = attempt.loss.empty() ? "" : " " + Text(attempt.loss);
      return {name, true, Text(attempt.event) + " opens." + loss, ""};
    }
    const capture::EngineError error =
        capture::ExplainEngineError(capture::EngineStep::kOpen, static_cast<int>(-fd), paranoid);
    finding.detail = Text(attempt.event) + ": " + Text(error.name) + ": " + Text(error.meaning);
    finding.remedy = Text(error.remedy);
  }
  return finding;
}

void AddEngines(const EventSelection& selection, int paranoid, Capabilities& result) {
  for (const capture::EngineRefusal& refusal : selection.refusals) {
    result.engines.push_back(
        {Text(base::EngineName(refusal.engine)), false, Text(refusal.reason), Text(refusal.remedy)});
  }
  for (const capture::EnginePlan& plan : selection.plans) {
    const Finding tried = TryLadder(Text(base::EngineName(plan.engine)), plan.access.front(), paranoid);
    result.engines.push_back(tried);
    if (!tried.usable || result.engine != "none") continue;
    result.engine = tried.name;
    result.engine_is_hardware = plan.engine != EngineKind::kSoftware;
  }
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
}

}  // namespace

Capabilities ProbeCapabilities() {
  Capabilities result;
  const capture::EngineFacts facts = capture::ReadEngineFacts();
  const os::KernelSettings& kernel = facts.kernel;
  const os::Machine machine = os::ReadMachine(facts.cpu);
  result.cpu = Text(machine.cpu.model_name);
  result.kernel = Text(machine.kernel_release);
  result.hypervisor = Text(machine.hypervisor);
  result.perf_event_paranoid = kernel.perf_event_paranoid;
  result.mlock_kib = kernel.mlock_kib;
  result.max_sample_rate = kernel.max_sample_rate;
  AddNodes(os::ReadTopology(), result);
  const EventSelection selection =
      capture::SelectEvents(facts, capture::EventRequest());
  AddEngines(selection, kernel.perf_event_paranoid, result);
  result.features.push_back(
      TryLadder("first_touch", selection.minor_faults, kernel.perf_event_paranoid));
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
