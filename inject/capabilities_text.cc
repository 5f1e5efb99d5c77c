// The two ways `memagent check` writes what was found.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "inject/capabilities.h"
#include "inject/wrapped_text.h"

namespace memagent::inject {
namespace {

constexpr size_t kNameColumn = 2;
constexpr size_t kTextColumn = 20;
constexpr size_t kWidth = 100;

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

std::string Verdict(const Capabilities& capabilities) {
  switch (CapabilitiesExitStatus(capabilities)) {
    case 0:
      return "engine=auto uses " + capabilities.engine + ".";
    case 1:
      return "engine=auto uses the software engine: where time is spent, by allocation; no "
             "latencies, "
             "no cache levels, no access counts.";
    default:
      return "no accesses can be sampled: allocations and page placement are still recorded.";
  }
}

nlohmann::ordered_json FindingsJson(const std::vector<Finding>& findings) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    json.push_back({{"name", finding.name},
                    {"usable", finding.usable},
                    {"detail", finding.detail},
                    {"remedy", finding.remedy}});
  }
  return json;
}

}  // namespace

std::string CapabilitiesText(const Capabilities& capabilities) {
  std::string out = "Machine\n";
  AppendRow("cpu", capabilities.cpu, out);
  AppendRow("kernel", capabilities.kernel, out);
  if (!capabilities.hypervisor.empty()) AppendRow("hypervisor", capabilities.hypervisor, out);
  AppendRow("NUMA nodes", NodesText(capabilities), out);
  AppendRow("perf limits",
            "perf_event_paranoid " + std::to_string(capabilities.perf_event_paranoid) +
                ", perf_event_mlock_kb " + std::to_string(capabilities.mlock_kib) +
                ", perf_event_max_sample_rate " + std::to_string(capabilities.max_sample_rate),
            out);
  out += "Sampling engines, in the order they are tried\n";
  for (const Finding& finding : capabilities.engines) AppendFinding(finding, out);
  out += "Also needed for a full report\n";
  for (const Finding& finding : capabilities.features) AppendFinding(finding, out);
  out += "Verdict: ";
  AppendWrapped(Verdict(capabilities), std::string_view("Verdict: ").size(), kWidth, out);
  return out + "\n";
}

std::string CapabilitiesJson(const Capabilities& capabilities) {
  nlohmann::ordered_json json = {{"cpu", capabilities.cpu},
                                 {"kernel", capabilities.kernel},
                                 {"hypervisor", capabilities.hypervisor},
                                 {"perf_event_paranoid", capabilities.perf_event_paranoid},
                                 {"mlock_kib", capabilities.mlock_kib},
                                 {"max_sample_rate", capabilities.max_sample_rate}};
  json["nodes"] = nlohmann::ordered_json::array();
  for (const NodeFinding& node : capabilities.nodes) {
    json["nodes"].push_back(
        {{"id", node.id}, {"cpus", node.cpus}, {"memory_bytes", node.memory_bytes}});
  }
  json["engine"] = capabilities.engine;
  json["engine_is_hardware"] = capabilities.engine_is_hardware;
  json["engines"] = FindingsJson(capabilities.engines);
  json["features"] = FindingsJson(capabilities.features);
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace memagent::inject
