#include "viewer/report_json.h"

#include "viewer/access_json.h"
#include "viewer/applied_json.h"
#include "viewer/concat.h"
#include "viewer/own_cost_json.h"
#include "viewer/placement_json.h"
#include "viewer/quality.h"

namespace memagent::viewer {
namespace {

// ASCII: the control characters beyond it act on some terminals.
std::string Compact(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Json ReasonsJson(const std::vector<ReasonCount>& reasons) {
  Json json = Json::object();
  for (const ReasonCount& reason : reasons) json[reason.name] = reason.count;
  return json;
}

// null when nothing is known, so that "0 % remote" and "can't tell" differ.
Json ShareOrNull(uint64_t part, uint64_t whole) {
  return whole == 0 ? Json(nullptr) : Json(Share(part, whole));
}

Json IntervalJson(const Interval& interval) { return Json::array({interval.low, interval.high}); }

Json EvidenceJson(const EvidenceCount& evidence) {
  return {{"exact", evidence.exact},
          {"approximate", evidence.approximate},
          {"pc_only", evidence.pc_only}};
}

void AddTally(Json& json, const Tally& tally) {
  json["samples_seen"] = tally.seen;
  json["attributed"] = tally.attributed;
  json["unattributed"] = ReasonsJson(tally.unattributed);
  json["dropped"] = ReasonsJson(tally.dropped);
  json["memory_samples"] = tally.MemorySamples();
  json["evidence"] = EvidenceJson(tally.evidence);
  json["evidence"]["none"] = tally.evidence.none;
}

Json FaultsJson(const View& view) {
  return {{"seen", view.faults.seen},
          {"attributed", view.faults.attributed},
          {"unattributed", ReasonsJson(view.faults.unattributed)},
          {"dropped", ReasonsJson(view.faults.dropped)}};
}

Json ThreadJson(const ThreadView& thread) {
  Json json;
  json["id"] = thread.id;
  json["tid"] = thread.tid;
  json["name"] = thread.name;
  json["main"] = thread.main;
  AddTally(json, thread.tally);
  json["time_enabled_ns"] = thread.time_enabled_nanos;
  json["time_running_ns"] = thread.time_running_nanos;
  json["unobserved_ns"] = thread.unobserved_nanos;
  json["throttled"] = thread.throttled;
  json["node_changes"] = thread.node_changes;
  json["samples_by_node"] = thread.samples_by_node;
  json["not_sampled"] = thread.not_sampled;
  return json;
}

Json EngineJson(const memagent::v1::Engine& engine) {
  return {{"kind", EngineWord(engine.kind())},
          {"in_use", engine.in_use()},
          {"event", engine.event()},
          {"period", engine.period()},
          {"period_unit", engine.period_unit()},
          {"rate_hz", engine.rate_hz()},
          {"attr", engine.exact_attr()},
          {"knows_latency", engine.knows_latency()},
          {"knows_data_source", engine.knows_data_source()},
          {"knows_loads_and_stores", engine.knows_loads_and_stores()},
          {"skid_ticks_on_next", engine.skid_ticks_on_next()},
          {"skid_ticks_total", engine.skid_ticks_total()},
          {"fault_period", engine.fault_period()},
          {"refused", engine.refused()},
          {"refused_errno", engine.refused_errno()},
          {"remedy", engine.remedy()}};
}

Json EnginesJson(const View& view) {
  Json json = Json::array();
  for (const auto& engine : view.profile.header.engines()) json.push_back(EngineJson(engine));
  return json;
}

Json EventsJson(const View& view) {
  constexpr const char* kSeverities[] = {"info", "warning", "error"};
  Json json = Json::array();
  for (const auto& event : view.profile.events) {
    const int severity = event.severity();
    json.push_back({{"time_ns", event.time()},
                    {"severity", severity >= 0 && severity < 3 ? kSeverities[severity] : "unknown"},
                    {"code", event.code()},
                    {"text", event.text()}});
  }
  return json;
}

Json QualityJson(const Quality& quality) {
  return {{"verdict", QualityWord(quality.word)}, {"reasons", quality.reasons}};
}

Json NodesJson(const View& view) {
  Json json = Json::array();
  for (const auto& node : view.profile.header.machine().nodes()) {
    json.push_back({{"id", node.id()},
                    {"cpus", node.cpu_list()},
                    {"memory_bytes", node.memory_total_bytes()}});
  }
  return json;
}

Json FileJson(const View& view) {
  const profile::LoadReport& load = view.profile.load;
  return {{"bytes", load.bytes},
          {"chunks_read", load.chunks_read},
          {"chunks_damaged", load.chunks_damaged},
          {"chunks_missing", load.chunks_missing},
          {"truncated", load.truncated},
          {"bad_references", load.bad_references},
          {"final", view.profile.final},
          {"end", view.profile.footer ? Json(view.profile.footer->how()) : Json(nullptr)}};
}

// --- parts of one site ---

Json StackJson(const std::vector<CodeLine>& stack) {
  Json json = Json::array();
  for (const CodeLine& line : stack) json.push_back(CodeLineJson(line));
  return json;
}

Json FirstTouchJson(const View& view, const SiteView& site) {
  Json json = Json::array();
  for (const FirstTouch& touch : site.first_touch) {
    json.push_back({{"thread", touch.thread},
                    {"thread_name", view.ThreadName(touch.thread)},
                    {"node", touch.cpu_node},
                    {"function", touch.where.short_function},
                    {"file", touch.where.file},
                    {"line", touch.where.line},
                    {"pages", touch.pages},
                    {"faults", touch.faults},
                    {"positions", touch.positions}});
  }
  return json;
}

Json UsesJson(const View& view, const SiteView& site) {
  Json json = Json::array();
  for (const Use& use : site.uses) {
    Json row = {{"thread", use.thread},
                {"cpu_node", use.cpu_node},
                {"memory_node", use.memory_node},
                {"samples", use.samples}};
    if (view.knows_stores) row["stores"] = use.stores;
    if (use.positions != 0) row["positions"] = use.positions;
    if (use.latency.samples > 0) row["latency"] = LatencyJson(use.latency);
    json.push_back(std::move(row));
  }
  return json;
}

Json CodeJson(const SiteView& site) {
  Json json = Json::array();
  for (const AccessingCode& code : site.code) {
    Json row = CodeLineJson(code.where);
    row["samples"] = code.samples;
    row["remote_samples"] = code.remote_samples;
    if (code.latency.samples > 0) row["latency"] = LatencyJson(code.latency);
    json.push_back(std::move(row));
  }
  return json;
}

Json EstimateJson(uint64_t count, double variance) {
  return IntervalJson(EstimateInterval(static_cast<double>(count), variance));
}

// 95 % intervals of the counts of a site with picked blocks.
Json SampledJson(const SiteView& site) {
  const CountVariances& v = site.variances;
  return {{"picked_allocations", site.picked_allocations},
          {"picked_frees", site.picked_frees},
          {"allocations_interval", EstimateJson(site.allocations, v.allocations)},
          {"frees_interval", EstimateJson(site.frees, v.frees)},
          {"bytes_allocated_interval", EstimateJson(site.bytes_allocated, v.bytes_allocated)},
          {"bytes_live_interval", EstimateJson(site.bytes_live, v.bytes_live)},
          {"bytes_peak_interval", EstimateJson(site.bytes_peak, v.bytes_peak)}};
}

Json EconomyJson(const View& view) {
  const memagent::v1::Economy& economy = view.profile.economy;
  if (!view.IsSampled() && !view.HasBudget()) return nullptr;
  return {{"sample_bytes", economy.sample_bytes()},
          {"largest_sample_bytes", economy.largest_sample_bytes()},
          {"not_picked", view.not_picked},
          {"unpicked_frees", view.unpicked_frees},
          {"budget_share", economy.budget_share()},
          {"overhead_share", economy.overhead_share()},
          {"budget_steps", economy.budget_steps()},
          {"period_factor", economy.period_factor()},
          {"largest_period_factor", economy.largest_period_factor()},
          {"samples_taken", economy.samples_taken()},
          {"design_effect", view.design_effect}};
}

Json PagesJson(const SiteView& site) {
  Json by_node = Json::array();
  for (const NodePages& pages : site.pages) {
    by_node.push_back({{"node", pages.node}, {"pages", pages.pages}});
  }
  return {{"by_node", std::move(by_node)}, {"not_present", site.pages_not_present}};
}

}  // namespace

Json CodeLineJson(const CodeLine& line) {
  Json json = {{"function", line.short_function},
               {"file", line.file},
               {"line", line.line},
               {"module", line.module},
               {"address", line.address}};
  // Stacks are most of a report: what says nothing is left out.
  if (line.function != line.short_function) json["full_function"] = line.function;
  if (line.inlined) json["inlined"] = true;
  return json;
}

Json SiteJson(const View& view, const SiteView& site) {
  Json json;
  json["id"] = site.id;
  json["kind"] = site.kind;
  json["function"] = site.where.short_function;
  json["file"] = site.where.file;
  json["line"] = site.where.line;
  json["stack"] = StackJson(site.stack);
  json["samples"] = site.samples;
  json["share"] = site.share;
  json["share_interval"] = IntervalJson(site.share_interval);
  json["remote_samples"] = site.remote_samples;
  json["remote_share"] = ShareOrNull(site.remote_samples, site.located_samples);
  json["evidence"] = EvidenceJson(site.evidence);
  json["allocations"] = site.allocations;
  json["frees"] = site.frees;
  json["bytes_allocated"] = site.bytes_allocated;
  json["bytes_live"] = site.bytes_live;
  json["inherited_blocks"] = site.inherited_blocks;
  json["inherited_bytes"] = site.inherited_bytes;
  json["bytes_peak"] = site.bytes_peak;
  if (site.variances.allocations > 0 || site.variances.bytes_live > 0) {
    json["sampled"] = SampledJson(site);
  }
  json["first_touch"] = FirstTouchJson(view, site);
  json["name"] = site.name;
  json["full_function"] = site.where.function;
  json["profile_site"] = site.profile_id;
  json["stack_cut"] = site.stack_cut;
  json["located_samples"] = site.located_samples;
  json["uses"] = UsesJson(view, site);
  json["code"] = CodeJson(site);
  json["pages"] = PagesJson(site);
  json["access"] = AccessJson(view, site.access);
  AddPlacementJson(json, view, site);
  return json;
}

Json ProcessJson(const View& view) {
  const memagent::v1::Process& process = view.profile.header.process();
  Json arguments = Json::array();
  for (const auto& argument : process.arguments()) arguments.push_back(argument);
  return {{"pid", process.pid()},
          {"parent_pid", process.parent_pid()},
          {"executable", process.executable()},
          {"arguments", std::move(arguments)},
          {"working_directory", process.working_directory()},
          {"host", process.host()},
          {"forked_without_exec", process.forked_without_exec()},
          {"start_unix_ns", view.profile.header.start_unix_nanos()},
          {"start_monotonic_ns", view.profile.header.start_monotonic_nanos()},
          {"wall_ns", view.wall_nanos}};
}

Json MachineJson(const View& view) {
  const memagent::v1::Machine& machine = view.profile.header.machine();
  const memagent::v1::Kernel& kernel = view.profile.header.kernel();
  Json distances = Json::array();
  for (const uint32_t distance : machine.distances()) distances.push_back(distance);
  return {{"architecture", machine.architecture()},
          {"cpu_model", machine.cpu_model()},
          {"cpu_family", machine.cpu_family()},
          {"cpu_model_number", machine.cpu_model_number()},
          {"cpu_stepping", machine.cpu_stepping()},
          {"microcode", machine.microcode()},
          {"hypervisor", machine.hypervisor()},
          {"page_bytes", machine.page_bytes()},
          {"cache_line_bytes", machine.cache_line_bytes()},
          {"distances", std::move(distances)},
          {"kernel_release", kernel.release()},
          {"perf_event_paranoid", kernel.perf_event_paranoid()},
          {"max_sample_rate", kernel.max_sample_rate()},
          {"mlock_kib", kernel.mlock_kib()},
          {"transparent_hugepage", kernel.transparent_hugepage()},
          {"numa_balancing", kernel.numa_balancing()}};
}

Json SummaryJson(const View& view) {
  Json json;
  json["engine"] = view.engine;
  AddTally(json, view.tally);
  json["located_samples"] = view.located_samples;
  json["remote_samples"] = view.remote_samples;
  json["remote_share"] = ShareOrNull(view.remote_samples, view.located_samples);
  json["quality"] = QualityJson(view.quality);
  json["process"] = ProcessJson(view);
  json["machine"] = MachineJson(view);
  json["nodes"] = NodesJson(view);
  json["engines"] = EnginesJson(view);
  json["event_totals"] = EventTotalsJson(view);
  json["access"] = AccessJson(view, view.access);
  json["options"] = view.profile.header.options();
  json["agent_version"] = view.profile.header.agent_version();
  json["imported_from"] = view.profile.header.imported_from();
  json["faults"] = FaultsJson(view);
  json["untracked_allocations"] = ReasonsJson(view.untracked);
  json["own_cost"] = OwnCostJson(view);
  json["economy"] = EconomyJson(view);
  AddPlacementSummary(json, view);
  json["placements"] = PlacementsJson(view);
  json["events"] = EventsJson(view);
  json["file"] = FileJson(view);
  json["threads"] = Json::array();
  for (const ThreadView& thread : view.threads) json["threads"].push_back(ThreadJson(thread));
  return json;
}

std::string JsonText(const Json& json) {
  std::string text = "{";
  const char* separator = "\n";
  for (const auto& [key, value] : json.items()) {
    Append(text, separator, Compact(key), ": ");
    separator = ",\n";
    if (!value.is_array() || value.empty()) {
      text += Compact(value);
      continue;
    }
    const char* inner = "[\n";
    for (const Json& element : value) {
      Append(text, inner, Compact(element));
      inner = ",\n";
    }
    text += "]";
  }
  return text + "\n}\n";
}

}  // namespace memagent::viewer
