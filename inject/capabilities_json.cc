// The findings of `memagent check` as JSON (docs/JSON.md).
#include <nlohmann/json.hpp>

#include "inject/capabilities.h"

namespace memagent::inject {
namespace {

using Json = nlohmann::ordered_json;

template <typename Items, typename Function>
Json Array(const Items& items, Function to_json) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(to_json(item));
  return array;
}

Json FindingJson(const Finding& finding) {
  return {{"name", finding.name},
          {"usable", finding.usable},
          {"detail", finding.detail},
          {"remedy", finding.remedy}};
}

Json RefusedJson(const RefusedAttempt& refused) {
  return {{"event", refused.event},
          {"attr", refused.attr},
          {"errno", refused.error},
          {"cause", refused.cause},
          {"remedy", refused.remedy}};
}

Json EventJson(const EventFinding& event) {
  return {{"event", event.event},
          {"opens", event.opens},
          {"attr", event.attr},
          {"leader_attr", event.leader},
          {"gives", event.gives},
          {"lacks", event.lacks},
          {"ran", event.ran},
          {"refused", Array(event.refused, RefusedJson)}};
}

Json EngineJson(const EngineFinding& engine) {
  return {{"name", engine.name},
          {"usable", engine.usable},
          {"chosen", engine.chosen},
          {"detail", engine.detail},
          {"remedy", engine.remedy},
          {"period", engine.period},
          {"period_unit", engine.period_unit},
          {"events", Array(engine.events, EventJson)}};
}

Json NodeJson(const NodeFinding& node) {
  return {{"id", node.id}, {"cpus", node.cpus}, {"memory_bytes", node.memory_bytes}};
}

Json PmuJson(const PmuFinding& pmu) {
  return {{"name", pmu.name}, {"samples_accesses", pmu.samples_accesses}, {"cpus", pmu.cpus}};
}

Json RightsJson(const RightsFinding& rights) {
  return {{"cap_sys_admin", rights.sys_admin}, {"cap_perfmon", rights.perfmon},
          {"cap_ipc_lock", rights.ipc_lock},   {"user_namespace", rights.user_namespace},
          {"container", rights.container},     {"seccomp", rights.seccomp}};
}

Json SystemCallJson(const SystemCallFinding& call) {
  return {{"name", call.name},
          {"purpose", call.purpose},
          {"allowed", call.allowed},
          {"verdict", call.verdict},
          {"remedy", call.remedy}};
}

// null: no limit.
Json Limit(uint64_t number) { return number == kUnlimited ? Json() : Json(number); }

Json BudgetsJson(const Budgets& budgets) {
  return {{"descriptor_limit", Limit(budgets.descriptor_limit)},
          {"descriptors_per_thread", budgets.descriptors_per_thread},
          {"descriptor_threads", Limit(budgets.descriptor_threads)},
          {"lockable_bytes", Limit(budgets.lockable_bytes)},
          {"ring_bytes", budgets.ring_bytes},
          {"ring_threads", Limit(budgets.ring_threads)},
          {"smallest_ring_threads", Limit(budgets.smallest_ring_threads)}};
}

}  // namespace

std::string CapabilitiesJson(const Capabilities& capabilities) {
  Json json = {{"cpu", capabilities.cpu},
               {"kernel", capabilities.kernel},
               {"hypervisor", capabilities.hypervisor},
               {"perf_event_paranoid", capabilities.perf_event_paranoid},
               {"mlock_kib", capabilities.mlock_kib},
               {"max_sample_rate", capabilities.max_sample_rate},
               {"transparent_hugepage", capabilities.transparent_hugepage},
               {"numa_balancing", capabilities.numa_balancing}};
  json["nodes"] = Array(capabilities.nodes, NodeJson);
  json["distances"] = capabilities.distances;
  json["pmus"] = Array(capabilities.pmus, PmuJson);
  json["rights"] = RightsJson(capabilities.rights);
  json["system_calls"] = Array(capabilities.system_calls, SystemCallJson);
  json["budgets"] = BudgetsJson(capabilities.budgets);
  json["engine"] = capabilities.engine;
  json["engine_is_hardware"] = capabilities.engine_is_hardware;
  json["engines"] = Array(capabilities.engines, EngineJson);
  json["features"] = Array(capabilities.features, FindingJson);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace memagent::inject
