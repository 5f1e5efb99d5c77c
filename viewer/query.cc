#include "viewer/query.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "agent/base/reasons.h"
#include "viewer/concat.h"
#include "viewer/demangle.h"
#include "viewer/function_name.h"
#include "viewer/own_frame.h"
#include "viewer/line_sharing.h"
#include "viewer/nodes.h"
#include "viewer/quality.h"
#include "viewer/symbolize.h"
#include "viewer/view_budget.h"

namespace memagent::viewer {
namespace {

using memagent::v1::Accounting;
using ReasonCounts = google::protobuf::RepeatedPtrField<memagent::v1::ReasonCount>;

// The agent keeps at most 128 frames; a hostile file may chain millions.
constexpr size_t kDeepestStack = 256;
// A row of a site or thread with its numbers, as JSON.
constexpr size_t kRowBytes = 1024;
constexpr size_t kSmallRowBytes = 128;

std::vector<ReasonCount> Reasons(const ReasonCounts& counts, std::span<const ReasonInfo> known) {
  std::map<std::string, uint64_t> sums;
  for (const auto& count : counts) sums[count.reason()] += count.count();
  std::vector<ReasonCount> result;
  for (const auto& sum : sums) {
    const std::string& name = sum.first;
    if (sum.second == 0) continue;
    const auto info = std::find_if(known.begin(), known.end(),
                                   [&](const ReasonInfo& row) { return row.name == name; });
    result.push_back({name, info == known.end() ? "" : std::string(info->meaning), sum.second});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const ReasonCount& a, const ReasonCount& b) { return a.count > b.count; });
  return result;
}

Tally SampleTally(const Accounting& accounting) {
  Tally tally;
  tally.seen = accounting.samples_seen();
  tally.attributed = accounting.attributed();
  tally.unattributed = Reasons(accounting.unattributed(), kUnattributedReasons);
  tally.dropped = Reasons(accounting.dropped(), kDropReasons);
  tally.evidence = {accounting.evidence_exact(), accounting.evidence_approximate(),
                    accounting.evidence_pc_only(), accounting.evidence_none()};
  return tally;
}

Tally FaultTally(const Accounting& accounting) {
  Tally tally;
  tally.seen = accounting.faults_seen();
  tally.attributed = accounting.faults_attributed();
  tally.unattributed = Reasons(accounting.faults_unattributed(), kUnattributedReasons);
  tally.dropped = Reasons(accounting.faults_dropped(), kDropReasons);
  return tally;
}

// The last thing the file knows about is its footer, else its last checkpoint.
uint64_t WallNanos(const profile::Profile& profile) {
  const uint64_t start = profile.header.start_monotonic_nanos();
  const uint64_t end = profile.footer ? profile.footer->ended() : profile.checkpoint_time;
  return end > start ? end - start : 0;
}

ThreadView MakeThread(const profile::Profile& profile, uint32_t id) {
  const profile::Thread& source = profile.threads[id];
  const memagent::v1::ThreadTotal& total = source.total;
  ThreadView thread;
  thread.id = id;
  thread.tid = source.start.tid();
  const uint32_t name = total.name() != 0 ? total.name() : source.start.name();
  thread.name = std::string(profile.Text(name));
  thread.main = source.start.main();
  thread.tally = SampleTally(total.accounting());
  thread.time_enabled_nanos = total.time_enabled_nanos();
  thread.time_running_nanos = total.time_running_nanos();
  thread.unobserved_nanos = total.unobserved_nanos();
  thread.throttled = total.throttled();
  thread.node_changes = total.node_changes();
  thread.samples_by_node.assign(total.samples_by_node().begin(), total.samples_by_node().end());
  thread.not_sampled = total.not_sampled();
  return thread;
}

// Thread 0 stands for samples whose thread is unknown; shown only when there are any.
std::vector<ThreadView> MakeThreads(const profile::Profile& profile, ViewBudget& budget) {
  std::vector<ThreadView> threads;
  for (uint32_t id = 0; id < profile.threads.size(); ++id) {
    ThreadView thread = MakeThread(profile, id);
    if (!budget.Take(kRowBytes + thread.name.size() + thread.not_sampled.size())) break;
    if (id > 0 || thread.tally.seen > 0) threads.push_back(std::move(thread));
  }
  return threads;
}

// Fills one SiteView from one recorded site.
class SiteBuilder {
 public:
  SiteBuilder(const profile::Profile& profile, Symbolizer& symbolizer, ViewBudget& budget)
      : profile_(profile), symbolizer_(symbolizer), budget_(budget) {}

  SiteView Build(uint32_t id, const profile::Site& source) const {
    SiteView site;
    site.profile_id = id;
    site.kind = KindWord(source.site.kind());
    site.name = Demangle(profile_.Text(source.site.name()));
    site.stack_cut = source.site.stack_cut();
    FillStack(source.site, site);
    FillCounters(source, site);
    FillUses(source.total, site);
    FillCode(source.total, site);
    FillPages(source.total, site);
    FillParts(source.total, site);
    if (budget_.Take(kSmallRowBytes * static_cast<size_t>(source.total.kind_size() +
                                                          source.total.latency_samples_size()))) {
      site.access = MakeAccessView(source.total);
    }
    return site;
  }

 private:
  void FillStack(const memagent::v1::Site& source, SiteView& site) const {
    uint32_t stack = source.stack();
    for (size_t depth = 0; stack != 0 && depth < kDeepestStack; ++depth) {
      const profile::Stack& node = profile_.stacks[stack];
      const std::vector<CodeLine>& lines = symbolizer_.Resolve(node.frame);
      if (!budget_.TakeLines(lines)) break;
      site.stack.insert(site.stack.end(), lines.begin(), lines.end());
      stack = node.parent;
    }
    site.stack_cut = site.stack_cut || stack != 0;
    site.where = NameOf(site, profile_.Text(source.name()) != site.name);
    // Of an imported profile: no call stack tells mappings apart.
    if (source.kind() == memagent::v1::MMAP && site.stack.empty()) {
      site.where.address = source.address();
    }
    // "[data of libfoo.so]" is what no symbol names: it has no declaration.
    if (source.kind() == memagent::v1::GLOBAL && !site.name.starts_with('[')) {
      const CodeLine place = symbolizer_.ResolveVariable(source.module(), source.address());
      site.where.file = place.file;
      site.where.line = place.line;
    }
  }

  static CodeLine NameOf(const SiteView& site, bool mangled) {
    if (site.name.empty() && !site.stack.empty()) return OwnFrame(site.stack);
    CodeLine named;
    named.function = site.name;
    // Only mangled names have something to shorten; others may be "[rest of libfoo.so]".
    named.short_function = mangled ? ShortName(site.name) : site.name;
    return named;
  }

  static void FillCounters(const profile::Site& source, SiteView& site) {
    const memagent::v1::SiteTotal& total = source.total;
    site.samples = total.samples();
    site.evidence = {total.evidence_exact(), total.evidence_approximate(), total.evidence_pc_only(),
                     0};
    site.allocations = total.allocations();
    site.frees = total.frees();
    site.bytes_allocated = total.bytes_allocated();
    site.inherited_blocks = total.inherited_blocks();
    site.inherited_bytes = total.inherited_bytes();
    const uint64_t held = total.inherited_bytes() + total.bytes_allocated();
    site.bytes_live = held - std::min(held, total.bytes_freed());
    site.bytes_peak = total.bytes_peak();
    const memagent::v1::SampledCounts& sampled = total.sampled();
    site.picked_allocations = sampled.picked_allocations();
    site.picked_frees = sampled.picked_frees();
    site.variances = {sampled.allocations_variance(), sampled.frees_variance(),
                      sampled.bytes_allocated_variance(), sampled.bytes_live_variance(),
                      sampled.bytes_peak_variance()};
    // Variables, and mappings of an imported profile.
    if (site.bytes_peak == 0 && source.site.size_bytes() != 0) {
      site.bytes_live = site.bytes_peak = source.site.size_bytes();
    }
  }

  void FillUses(const memagent::v1::SiteTotal& total, SiteView& site) const {
    for (int i = 0; i < total.cell_samples_size(); ++i) {
      Use use;
      use.thread = total.cell_thread(i);
      use.cpu_node = total.cell_cpu_node(i);
      use.memory_node = total.cell_memory_node(i);
      use.samples = total.cell_samples(i);
      if (total.cell_stores_size() > 0) use.stores = std::min(use.samples, total.cell_stores(i));
      if (total.cell_positions_size() > 0) use.positions = total.cell_positions(i);
      if (total.cell_latency_samples_size() > 0) {
        use.latency.Add(total.cell_latency_samples(i), total.cell_latency_cycles(i));
      }
      if (use.IsLocated()) site.located_samples += use.samples;
      if (use.IsRemote()) site.remote_samples += use.samples;
      if (budget_.Take(kSmallRowBytes)) site.uses.push_back(use);
    }
    std::stable_sort(site.uses.begin(), site.uses.end(),
                     [](const Use& a, const Use& b) { return a.samples > b.samples; });
  }

  // Several instructions of one source line are one row.
  void FillCode(const memagent::v1::SiteTotal& total, SiteView& site) const {
    std::map<std::tuple<std::string, std::string, uint32_t, uint64_t>, AccessingCode> rows;
    for (int i = 0; i < total.code_samples_size(); ++i) {
      const CodeLine& where = symbolizer_.Resolve(total.code_frame(i)).front();
      if (!budget_.TakeLine(where)) break;
      const bool unknown = where.function.empty() && where.file.empty();
      AccessingCode& row =
          rows[{where.module, where.function, where.line, unknown ? where.address : 0}];
      row.where = where;
      row.samples += total.code_samples(i);
      row.remote_samples += total.code_remote_samples(i);
      if (total.code_latency_samples_size() > 0) {
        row.latency.Add(total.code_latency_samples(i), total.code_latency_cycles(i));
      }
    }
    for (auto& [key, row] : rows) site.code.push_back(std::move(row));
    std::stable_sort(
        site.code.begin(), site.code.end(),
        [](const AccessingCode& a, const AccessingCode& b) { return a.samples > b.samples; });
  }

  void FillPages(const memagent::v1::SiteTotal& total, SiteView& site) const {
    constexpr uint64_t kMostPages = uint64_t{1} << 40;  // of a damaged file; 4 PiB of small ones
    for (const auto& touch : total.first_touch()) {
      const CodeLine& where = symbolizer_.Resolve(touch.frame()).front();
      if (!budget_.TakeLine(where)) break;
      site.first_touch.push_back({touch.thread(), touch.cpu_node(), where,
                                  std::min(touch.pages(), kMostPages), touch.faults(),
                                  touch.positions()});
    }
    std::stable_sort(site.first_touch.begin(), site.first_touch.end(),
                     [](const FirstTouch& a, const FirstTouch& b) { return a.pages > b.pages; });
    for (int i = 0; i < total.page_count_size() && budget_.Take(kSmallRowBytes); ++i) {
      site.pages.push_back({total.page_node(i), total.page_count(i)});
    }
    site.pages_not_present = total.pages_not_present();
    site.pages_moved = total.pages_moved();
    site.huge_pages = std::min(total.huge_pages(), total.huge_pages_asked());
    site.huge_pages_asked = total.huge_pages_asked();
    site.touched_pages_huge = std::min(total.touched_pages_huge(), total.touched_pages_told());
    site.touched_pages_told = total.touched_pages_told();
  }

  // Which parts were used by whom, together or alone, and under which policy.
  void FillParts(const memagent::v1::SiteTotal& total, SiteView& site) const {
    constexpr uint32_t kParts = 64;
    site.strip_samples_left_out = total.strip_samples_left_out();
    for (int i = 0; i < total.strip_samples_size() && budget_.Take(kSmallRowBytes); ++i) {
      if (total.strip_position(i) >= kParts) continue;
      site.strip.push_back({total.strip_position(i), total.strip_cpu_node(i),
                            total.strip_memory_node(i), total.strip_samples(i)});
    }
    for (const auto& sharing : total.sharing()) {
      if (budget_.Take(kSmallRowBytes)) site.sharing.push_back(sharing);
    }
    for (const auto& policy : total.policy()) {
      if (budget_.Take(policy.ByteSizeLong() + kSmallRowBytes)) site.policies.push_back(policy);
    }
  }

  const profile::Profile& profile_;
  Symbolizer& symbolizer_;
  ViewBudget& budget_;
};

// All samples that are not dropped have some evidence.
double DesignEffect(const View& view) {
  const EvidenceCount& e = view.tally.evidence;
  const double sum = static_cast<double>(e.exact) + static_cast<double>(e.approximate) +
                     static_cast<double>(e.pc_only) + static_cast<double>(e.none);
  const auto squares = static_cast<double>(view.profile.economy.sample_weight_squares());
  return sum == 0 ? 1 : std::max(1.0, squares / sum);
}

AccessView SumOfSites(const View& view) {
  AccessView sum;
  for (const SiteView& site : view.sites) sum.Add(site.access);
  return sum;
}

void RankSites(View& view) {
  view.access = SumOfSites(view);
  const auto weight = [](const SiteView& site) {
    return std::tuple(site.access.latency.cycles, site.samples, site.bytes_peak);
  };
  std::stable_sort(view.sites.begin(), view.sites.end(),
                   [&](const SiteView& a, const SiteView& b) { return weight(a) > weight(b); });
  const uint64_t whole = view.tally.MemorySamples();
  for (size_t i = 0; i < view.sites.size(); ++i) {
    SiteView& site = view.sites[i];
    site.id = Concat("S", i + 1);
    site.share = Share(site.samples, whole);
    site.share_interval = WilsonInterval(site.samples, whole, view.design_effect);
    site.design_effect = view.design_effect;
    view.located_samples += site.located_samples;
    view.remote_samples += site.remote_samples;
  }
}

// Takes what was left out by order out of what could not be recorded.
uint64_t TakeReason(std::vector<ReasonCount>& reasons, UntrackedReason reason) {
  const auto found = std::find_if(reasons.begin(), reasons.end(), [&](const ReasonCount& row) {
    return row.name == Info(reason).name;
  });
  if (found == reasons.end()) return 0;
  const uint64_t count = found->count;
  reasons.erase(found);
  return count;
}

// Several instructions of one source line are one row.
std::vector<FateView> MakeFates(const profile::Profile& profile, Symbolizer& symbolizer,
                                ViewBudget& budget) {
  std::map<std::tuple<std::string, std::string, uint32_t, uint64_t>, FateView> rows;
  for (const memagent::v1::CodeFate& fate : profile.code_fates) {
    const CodeLine& where = symbolizer.Resolve(fate.frame()).front();
    if (!budget.TakeLine(where)) break;
    const bool unknown = where.function.empty() && where.file.empty();
    FateView& row = rows[{where.module, where.function, where.line, unknown ? where.address : 0}];
    row.where = where;
    row.Add(fate);
  }
  std::vector<FateView> fates;
  for (auto& [key, row] : rows) fates.push_back(std::move(row));
  std::stable_sort(fates.begin(), fates.end(),
                   [](const FateView& a, const FateView& b) { return a.samples > b.samples; });
  return fates;
}

// An engine may tell it of some instructions only.
bool KnowsStores(const View& view) {
  if (view.engine_record && view.engine_record->knows_loads_and_stores()) return true;
  return std::any_of(view.sites.begin(), view.sites.end(), [](const SiteView& site) {
    return std::any_of(site.uses.begin(), site.uses.end(),
                       [](const Use& use) { return use.stores > 0; });
  });
}

void FillEngine(View& view) {
  view.engine = EngineWord(memagent::v1::Engine::NONE);
  for (const auto& engine : view.profile.header.engines()) {
    if (!engine.in_use()) continue;
    view.engine_record = engine;
    view.engine = EngineWord(engine.kind());
  }
}

}  // namespace

View BuildView(profile::Profile profile, const QueryOptions& options) {
  View view;
  view.profile = std::move(profile);
  if (!options.lines) {
    for (auto& module : view.profile.modules) module.clear_build_id();
  }
  FillEngine(view);
  view.wall_nanos = WallNanos(view.profile);
  view.node_count = std::max(1, view.profile.header.machine().nodes_size());
  view.nodes = NodesOf(view.profile.header.machine());
  view.raw_by_site = RawBySite(view.profile);
  view.tally = SampleTally(view.profile.accounting);
  view.design_effect = DesignEffect(view);
  view.faults = FaultTally(view.profile.accounting);
  view.untracked = Reasons(view.profile.accounting.untracked(), kUntrackedReasons);
  view.not_picked = TakeReason(view.untracked, UntrackedReason::kNotPicked);
  view.unpicked_frees = TakeReason(view.untracked, UntrackedReason::kUnpickedFree);
  ViewBudget budget;
  view.threads = MakeThreads(view.profile, budget);
  Symbolizer symbolizer(view.profile);
  const SiteBuilder builder(view.profile, symbolizer, budget);
  for (const auto& [id, site] : view.profile.sites) {
    if (id == 0 && site.total.samples() == 0) continue;
    if (!budget.Take(kRowBytes + view.profile.Text(site.site.name()).size())) break;
    view.sites.push_back(builder.Build(id, site));
  }
  view.fates = MakeFates(view.profile, symbolizer, budget);
  view.cut_short = budget.used_up();
  RankSites(view);
  view.knows_stores = KnowsStores(view);
  if (options.lines) view.symbol_notes = symbolizer.Notes();
  view.quality = JudgeQuality(view);
  return view;
}

}  // namespace memagent::viewer
