#include "viewer/placement_json.h"

#include "viewer/advice_text.h"
#include "viewer/demangle.h"

namespace memagent::viewer {
namespace {

Json IntervalJson(const Interval& interval) { return Json::array({interval.low, interval.high}); }

template <typename Numbers>
Json ArrayJson(const Numbers& numbers) {
  Json json = Json::array();
  for (const auto number : numbers) json.push_back(number);
  return json;
}

Json StripJson(const SiteView& site) {
  Json json = Json::array();
  for (const StripCell& cell : site.strip) {
    json.push_back({{"position", cell.position},
                    {"cpu_node", cell.cpu_node},
                    {"memory_node", cell.memory_node},
                    {"samples", cell.samples}});
  }
  return json;
}

Json SharingJson(const SiteView& site) {
  Json json = Json::array();
  for (const auto& sharing : site.sharing) {
    json.push_back({{"unit_bytes", sharing.unit_bytes()},
                    {"pairs", sharing.pairs()},
                    {"same_thread", sharing.same_thread()},
                    {"same_node", sharing.same_node()},
                    {"other_node_written", sharing.other_node_written()}});
  }
  return json;
}

Json PoliciesJson(const SiteView& site) {
  Json json = Json::array();
  for (const auto& policy : site.policies) {
    json.push_back({{"mode", policy.mode()},
                    {"nodes", ArrayJson(policy.node())},
                    {"of_thread", policy.of_thread()},
                    {"pages", policy.pages()}});
  }
  return json;
}

Json CallJson(const View& view, const memagent::v1::PlacementCall& call) {
  const profile::Profile& profile = view.profile;
  return {{"time_ns", call.time()},
          {"thread", call.thread()},
          {"call", call.call()},
          {"function", Demangle(profile.FunctionOf(call.frame()))},
          {"address", call.address()},
          {"bytes", call.size_bytes()},
          {"profile_site", call.site()},
          {"mode", call.mode()},
          {"nodes", ArrayJson(call.node())},
          {"target_tid", call.target_tid()},
          {"calls", call.calls()},
          {"refused", call.refused()},
          {"refused_errno", call.refused_errno()}};
}

Json OneAdviceJson(const SiteView& site, const Diagnosis& diagnosis, const Advice& advice,
                   const std::string& profile) {
  Json json = {{"kind", AdviceKey(advice.kind)},
               {"text", AdviceText(advice, Terminal())},
               {"nodes", advice.nodes},
               {"rule", advice.rule.empty() ? Json(nullptr) : Json(RuleOf(site, advice, profile))}};
  if (!advice.where.function.empty() || !advice.where.file.empty()) {
    json["where"] = CodeLineJson(advice.where);
  }
  if (advice.after) {
    json["remote_share"] = {{"now", diagnosis.now.remote},
                            {"now_interval", IntervalJson(diagnosis.now.interval)},
                            {"predicted", advice.after->remote},
                            {"predicted_interval", IntervalJson(advice.after->interval)}};
    json["mean_distance"] = {{"now", diagnosis.now.distance},
                             {"predicted", advice.after->distance}};
  }
  if (advice.gain) {
    json["gain_at_most"] = {{"share", advice.gain->share},
                            {"interval", IntervalJson(advice.gain->interval)},
                            {"of", advice.gain->of_latency ? "latency" : "memory_samples"}};
  }
  return json;
}

}  // namespace

void AddDiagnosisJson(Json& json, const View& view, const SiteView& site,
                      const Diagnosis& diagnosis) {
  json["pattern"] = {{"class", PatternWord(diagnosis.pattern.kind)},
                     {"node", diagnosis.pattern.node},
                     {"why", diagnosis.pattern.why}};
  Json causes = Json::array();
  for (const Cause& cause : diagnosis.causes) {
    causes.push_back({{"cause", CauseKey(cause.kind)},
                      {"samples", cause.samples},
                      {"share", Share(cause.samples, site.remote_samples)},
                      {"share_interval", IntervalJson(cause.share)},
                      {"memory_node", cause.home},
                      {"evidence", CauseEvidence(view, site, cause, Terminal())}});
  }
  json["causes"] = std::move(causes);
}

void AddPlacementJson(Json& json, const View& view, const SiteView& site) {
  json["strip"] = StripJson(site);
  json["sharing"] = SharingJson(site);
  json["policies"] = PoliciesJson(site);
  json["pages"]["moved"] = site.pages_moved;
  json["pages"]["huge"] = site.huge_pages;
  json["pages"]["huge_asked"] = site.huge_pages_asked;
  json["pages"]["touched_huge"] = site.touched_pages_huge;
  json["pages"]["touched_told"] = site.touched_pages_told;
  AddDiagnosisJson(json, view, site, Diagnose(view, site));
}

Json AdviceJson(const SiteView& site, const Diagnosis& diagnosis, const std::string& profile) {
  Json json = Json::array();
  for (const Advice& advice : diagnosis.advice) {
    json.push_back(OneAdviceJson(site, diagnosis, advice, profile));
  }
  return json;
}

void AddPlacementSummary(Json& json, const View& view) {
  const profile::Profile& profile = view.profile;
  Json calls = Json::array();
  for (const auto& call : profile.placement_calls) calls.push_back(CallJson(view, call));
  json["placement_calls"] = std::move(calls);
  json["placement_calls_left_out"] = profile.placement_calls_left_out;
  Json nodes = Json::array();
  for (const auto& node : profile.node_counters) {
    nodes.push_back({{"node", node.node()},
                     {"least_free_bytes", node.least_free_bytes()},
                     {"hit", node.hit()},
                     {"miss", node.miss()},
                     {"foreign", node.foreign()},
                     {"interleave_hit", node.interleave_hit()}});
  }
  json["node_counters"] = std::move(nodes);
  json["numa_pages_migrated"] = profile.numa_pages_migrated;
  json["numa_hint_faults"] = profile.numa_hint_faults;
}

}  // namespace memagent::viewer
