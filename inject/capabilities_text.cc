// The findings of `memagent check` for people.
#include <algorithm>
#include <set>
#include <string_view>

#include "inject/capabilities.h"
#include "inject/wrapped_text.h"

namespace memagent::inject {
namespace {

constexpr size_t kNameColumn = 2;
constexpr size_t kTextColumn = 16;
constexpr size_t kWidth = 80;

void AppendRow(const std::string& name, const std::string& text, std::string& out) {
  std::string start(kNameColumn, ' ');
  start += name;
  start.resize(std::max(kTextColumn, start.size() + 1), ' ');
  out += start;
  AppendWrapped(text, kTextColumn, kWidth, out);
  out += '\n';
}

void AppendFinding(const Finding& finding, std::string& out) {
  AppendRow(finding.name, (finding.usable ? "yes  " : "no   ") + finding.detail, out);
  if (!finding.remedy.empty()) AppendRow("", finding.remedy, out);
}

std::string Joined(const std::vector<std::string>& words, const std::string& nothing) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? nothing : text;
}

std::string NodesText(const Capabilities& capabilities) {
  std::string text = std::to_string(capabilities.nodes.size()) + ":";
  for (const NodeFinding& node : capabilities.nodes) {
    text += " node " + std::to_string(node.id) + " (CPUs " +
            (node.cpus.empty() ? "none" : node.cpus) + ", " +
            std::to_string(node.memory_bytes >> 20) + " MiB)";
  }
  if (capabilities.nodes.size() < 2) text += "; remote access cannot occur on this machine.";
  return text;
}

// One row for each node, from it to all.
void AppendDistances(const Capabilities& capabilities, std::string& out) {
  const size_t count = capabilities.nodes.size();
  if (count < 2 || capabilities.distances.size() != count * count) return;
  for (size_t from = 0; from < count; ++from) {
    std::string text = "from node " + std::to_string(capabilities.nodes[from].id) + ":";
    for (size_t to = 0; to < count; ++to) {
      text += " " + std::to_string(capabilities.distances[from * count + to]);
    }
    AppendRow(from == 0 ? "distances" : "", text, out);
  }
}

std::string MemoryText(const Capabilities& capabilities) {
  const std::string huge = capabilities.transparent_hugepage;
  const int balancing = capabilities.numa_balancing;
  return "transparent huge pages " + (huge.empty() ? "not known" : huge) + ", NUMA balancing " +
         (balancing < 0    ? "not known"
          : balancing == 0 ? "off"
                           : "on");
}

std::string PmusText(const Capabilities& capabilities) {
  if (capabilities.pmus.empty()) return "not known: sysfs does not show them";
  std::vector<std::string> sampling;
  std::vector<std::string> others;
  for (const PmuFinding& pmu : capabilities.pmus) {
    const std::string cpus = pmu.cpus.empty() ? "" : " (CPUs " + pmu.cpus + ")";
    (pmu.samples_accesses ? sampling : others).push_back(pmu.name + cpus);
  }
  return "that sample accesses: " + Joined(sampling, "none") +
         "; others: " + Joined(others, "none");
}

void AppendMachine(const Capabilities& capabilities, std::string& out) {
  out += "Machine\n";
  AppendRow("cpu", capabilities.cpu, out);
  AppendRow("kernel", capabilities.kernel, out);
  if (!capabilities.hypervisor.empty()) AppendRow("hypervisor", capabilities.hypervisor, out);
  AppendRow("NUMA nodes", NodesText(capabilities), out);
  AppendDistances(capabilities, out);
  AppendRow("memory", MemoryText(capabilities), out);
  AppendRow("PMUs", PmusText(capabilities), out);
}

std::string CapabilityNames(const RightsFinding& rights) {
  std::vector<std::string> names;
  if (rights.sys_admin) names.emplace_back("CAP_SYS_ADMIN");
  if (rights.perfmon) names.emplace_back("CAP_PERFMON");
  if (rights.ipc_lock) names.emplace_back("CAP_IPC_LOCK");
  std::string text = Joined(names, "none of CAP_PERFMON, CAP_SYS_ADMIN, CAP_IPC_LOCK");
  if (rights.user_namespace && !names.empty()) {
    text += ", of a user namespace: they don't count for perf events";
  }
  return text;
}

std::string SandboxText(const RightsFinding& rights) {
  std::string text = rights.container.empty() ? "no container that shows" : rights.container;
  return text + (rights.seccomp ? ", with a seccomp filter" : ", no seccomp filter");
}

void AppendSystemCalls(const Capabilities& capabilities, std::string& out) {
  std::vector<std::string> allowed;
  for (const SystemCallFinding& call : capabilities.system_calls) {
    if (call.allowed) allowed.push_back(call.name);
  }
  AppendRow("system calls", "allowed: " + Joined(allowed, "none"), out);
  for (const SystemCallFinding& call : capabilities.system_calls) {
    if (call.allowed) continue;
    AppendRow("", call.name + ": " + call.verdict + "; for " + call.purpose + ". " + call.remedy,
              out);
  }
}

void AppendRights(const Capabilities& capabilities, std::string& out) {
  out += "Rights\n";
  AppendRow("perf limits",
            "perf_event_paranoid " + std::to_string(capabilities.perf_event_paranoid) +
                ", perf_event_mlock_kb " + std::to_string(capabilities.mlock_kib) +
                ", perf_event_max_sample_rate " + std::to_string(capabilities.max_sample_rate),
            out);
  AppendRow("capabilities", CapabilityNames(capabilities.rights), out);
  AppendRow("sandbox", SandboxText(capabilities.rights), out);
  AppendSystemCalls(capabilities, out);
}

std::string Threads(uint64_t count) {
  return count == kUnlimited ? "any number of threads" : std::to_string(count) + " threads";
}

void AppendBudgets(const Budgets& budgets, std::string& out) {
  const std::string limit = budgets.descriptor_limit == kUnlimited
                                ? "no limit"
                                : "limit " + std::to_string(budgets.descriptor_limit);
  AppendRow("descriptors",
            limit + ", " + std::to_string(budgets.descriptors_per_thread) +
                " for each thread: enough for " + Threads(budgets.descriptor_threads),
            out);
  if (budgets.lockable_bytes == kUnlimited) {
    AppendRow("locked memory", "no limit: rings for any number of threads", out);
    return;
  }
  AppendRow("locked memory",
            std::to_string(budgets.lockable_bytes >> 10) + " KiB, a ring has up to " +
                std::to_string(budgets.ring_bytes >> 10) + " KiB: enough for " +
                Threads(budgets.ring_threads) + ", or " +
                std::to_string(budgets.smallest_ring_threads) + " with the smallest rings",
            out);
}

// Rungs of a ladder are often refused for one reason: each is told once.
void AppendEvent(const EventFinding& event, std::set<std::string>& told, std::string& out) {
  if (!event.opens) {
    AppendRow("", event.event + ": does not open", out);
  } else {
    AppendRow("",
              event.event + " gives " + Joined(event.gives, "nothing") +
                  (event.ran == "no" ? "; it never ran" : ""),
              out);
    if (!event.lacks.empty()) AppendRow("", "lacks: " + event.lacks, out);
    if (!event.leader.empty()) AppendRow("", "leader " + event.leader, out);
    AppendRow("", "attr " + event.attr, out);
  }
  for (const RefusedAttempt& refused : event.refused) {
    if (!told.insert(refused.cause).second) continue;
    AppendRow("", "refused: " + refused.cause + " " + refused.remedy, out);
  }
}

void AppendEngine(const EngineFinding& engine, std::string& out) {
  AppendRow(engine.name,
            (engine.usable ? "yes  " : "no   ") + engine.detail +
                (engine.chosen ? " engine=auto uses it." : ""),
            out);
  if (!engine.remedy.empty()) AppendRow("", engine.remedy, out);
  std::set<std::string> told;
  for (const EventFinding& event : engine.events) {
    for (const RefusedAttempt& refused : event.refused) {
      if (engine.detail.ends_with(refused.cause)) told.insert(refused.cause);
    }
    AppendEvent(event, told, out);
  }
  if (engine.usable) {
    AppendRow("", "period " + std::to_string(engine.period) + " " + engine.period_unit, out);
  }
}

std::string Verdict(const Capabilities& capabilities) {
  switch (CapabilitiesExitStatus(capabilities)) {
    case 0:
      return "engine=auto uses " + capabilities.engine + ".";
    case 1:
      return "engine=auto uses the software engine: where time is spent, by allocation; no "
             "latencies, no cache levels, no access counts.";
    default:
      return "no accesses can be sampled: allocations and page placement are still recorded.";
  }
}

}  // namespace

std::string CapabilitiesText(const Capabilities& capabilities) {
  std::string out;
  AppendMachine(capabilities, out);
  AppendRights(capabilities, out);
  AppendBudgets(capabilities.budgets, out);
  out += "Sampling engines, in the order they are tried\n";
  for (const EngineFinding& engine : capabilities.engines) AppendEngine(engine, out);
  out += "Also needed for a full report\n";
  for (const Finding& finding : capabilities.features) AppendFinding(finding, out);
  out += "Verdict: ";
  AppendWrapped(Verdict(capabilities), std::string_view("Verdict: ").size(), kWidth, out);
  return out + "\n";
}

}  // namespace memagent::inject
