#include "viewer/access_json.h"

#include <algorithm>
#include <vector>

#include "viewer/access_text.h"

namespace memagent::viewer {
namespace {

Json OrNull(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

Json KindJson(const AccessKindView& kind) {
  const DataSource& source = kind.source;
  Json json = {{"op", OpWord(source.op)},
               {"level", LevelWord(source.level)},
               {"locality", LocalityWord(source.locality)},
               {"snoop", SnoopWord(source.snoop)},
               {"tlb", TlbWord(source.tlb)},
               {"page", TestimonyWord(kind.page)},
               {"samples", kind.samples}};
  // Rare, and many rows.
  if (source.locked) json["locked"] = true;
  if (source.blocked_data) json["blocked_data"] = true;
  if (source.blocked_address) json["blocked_address"] = true;
  if (source.region != 0) json["region"] = source.region;
  if (kind.page_bytes != 0) json["page_bytes"] = kind.page_bytes;
  json["latency"] = LatencyJson(kind.latency);
  return json;
}

Json KindsJson(const AccessView& access) {
  std::vector<const AccessKindView*> ranked;
  for (const auto& [key, kind] : access.kinds) ranked.push_back(&kind);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto* a, const auto* b) { return a->samples > b->samples; });
  Json json = Json::array();
  for (const AccessKindView* kind : ranked) json.push_back(KindJson(*kind));
  return json;
}

// Rows: what the page says; columns: what the hardware says.
Json WitnessesJson(const AccessView& access) {
  Json table = Json::object();
  for (const Testimony page : {Testimony::kUnknown, Testimony::kNear, Testimony::kFar}) {
    Json row = Json::object();
    for (const Testimony hardware : {Testimony::kUnknown, Testimony::kNear, Testimony::kFar}) {
      row[std::string(TestimonyWord(hardware))] =
          access.witnesses[static_cast<size_t>(page)][static_cast<size_t>(hardware)];
    }
    table[std::string(TestimonyWord(page))] = std::move(row);
  }
  const uint64_t both = access.BothKnow();
  return {{"both_know", both},
          {"agree", access.Agree()},
          {"agree_share", both == 0 ? Json(nullptr) : Json(Share(access.Agree(), both))},
          {"by_page_and_hardware", std::move(table)}};
}

}  // namespace

Json LatencyJson(const LatencySum& latency) {
  return {
      {"samples", latency.samples}, {"cycles", latency.cycles}, {"mean", OrNull(latency.Mean())}};
}

Json AccessJson(const View& view, const AccessView& access) {
  if (access.samples == 0) return nullptr;
  Json latency = LatencyJson(access.latency);
  latency["median"] = OrNull(access.Percentile(0.5));
  latency["p95"] = OrNull(access.Percentile(0.95));
  latency["p99"] = OrNull(access.Percentile(0.99));
  latency["near"] = LatencyJson(access.near);
  latency["far"] = LatencyJson(access.far);
  if (view.HasLatency()) {
    const Interval interval = LatencyShareInterval(view, access);
    latency["share"] = Share(access.latency.cycles, view.access.latency.cycles);
    latency["share_interval"] = Json::array({interval.low, interval.high});
  }
  return {{"samples", access.samples},
          {"loads", access.WithOp(MemoryOp::kLoad)},
          {"stores", access.WithOp(MemoryOp::kStore)},
          {"prefetches", access.WithOp(MemoryOp::kPrefetch)},
          {"from_memory", access.FromMemory()},
          {"from_far_memory", access.FromFarMemory()},
          {"modified_elsewhere", access.Modified()},
          {"tlb_known", access.TlbKnown()},
          {"tlb_misses", access.TlbMisses()},
          {"latency", std::move(latency)},
          {"instruction", LatencyJson(access.instruction)},
          {"tlb_refill", LatencyJson(access.tlb_refill)},
          {"witnesses", WitnessesJson(access)},
          {"kinds", KindsJson(access)}};
}

Json EventTotalsJson(const View& view) {
  Json json = Json::array();
  for (const auto& event : view.profile.event_totals) {
    json.push_back({{"event", event.event()},
                    {"attr", event.exact_attr()},
                    {"loss", event.loss()},
                    {"threads", event.threads()},
                    {"enabled_ns", event.enabled_nanos()},
                    {"running_ns", event.running_nanos()},
                    {"occurrences", event.occurrences()},
                    {"samples", event.samples()},
                    {"lost", event.lost()},
                    {"throttled", event.throttled()},
                    {"silent", IsSilent(event)}});
  }
  return json;
}

}  // namespace memagent::viewer
