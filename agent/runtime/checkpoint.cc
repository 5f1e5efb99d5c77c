#include "agent/runtime/checkpoint.h"

#include <algorithm>

#include "agent/capture/bootstrap_heap.h"
#include "agent/capture/stack_capture.h"
#include "agent/capture/stack_trie.h"
#include "agent/ledger/site_table.h"
#include "agent/os/perf_attr_text.h"
#include "agent/runtime/site_record.h"

namespace memagent::runtime {
namespace {

// Rewriting costs a full write: only when the file is several times its content, and not small.
constexpr uint64_t kRewriteFloorBytes = uint64_t{4} << 20;
constexpr uint64_t kRewriteFactor = 3;
// The file may not reach profile::kMaxProfileBytes while a rewrite could still shrink it.
constexpr uint64_t kRewriteNearCapBytes = profile::kMaxProfileBytes / 4 * 3;

profile::SiteTotalData TotalOf(SiteId site, const SiteCount& counts) {
  profile::SiteTotalData total;
  total.site = static_cast<uint32_t>(site);
  total.allocations = counts.allocations;
  total.frees = counts.frees;
  total.bytes_allocated = counts.bytes_allocated;
  total.bytes_freed = counts.bytes_freed;
  total.bytes_peak = counts.bytes_peak;
  total.inherited_blocks = counts.inherited_blocks;
  total.inherited_bytes = counts.inherited_bytes;
  total.sampled = counts.sampled;
  return total;
}

aggregate::Accounting LivingUntracked(const ledger::ThreadRecord* record) {
  aggregate::Accounting accounting;
  for (size_t i = 0; i < kUntrackedReasonCount; ++i) {
    accounting.untracked[i] = record->untracked.count[i].load(std::memory_order_relaxed);
  }
  return accounting;
}

}  // namespace

void Checkpoint::StartOver() {
  from_.stacks.StartOver();
  last_counts_.clear();
  site_written_.clear();
  threads_written_ = 0;
  events_written_ = 0;
  everything_ = true;
}

bool Checkpoint::IsOvergrown() const {
  const uint64_t size = file_.size_bytes();
  if (size > kRewriteNearCapBytes) return size > compact_bytes_ + compact_bytes_ / 4;
  return size > kRewriteFloorBytes && size > kRewriteFactor * compact_bytes_;
}

uint32_t Checkpoint::FrameOfCode(uint64_t code) {
  if ((code & aggregate::kNamedCode) == 0) return from_.stacks.FrameOf(code, true);
  return static_cast<uint32_t>(code & ~aggregate::kNamedCode);
}

// Every code address that the totals will name becomes a frame before they are written.
void Checkpoint::NoteCodeFrames() {
  for (const auto& [ip, counts] : from_.aggregator.fates().by_code()) {
    if (ip != 0) FrameOfCode(ip);
  }
  from_.placement.ForEachCallStack([this](StackId stack) { from_.stacks.CallerFrame(stack); });
  for (auto& [id, site] : from_.aggregator.sites()) {
    if (!site.changed && !everything_) continue;
    for (const auto& [ip, count] : site.code) FrameOfCode(ip);
    for (const auto& [key, touch] : site.first_touch) FrameOfCode(key.ip);
  }
}

void Checkpoint::WriteThreads() {
  const auto& threads = from_.observation.threads();  // numbered without a gap
  base::Vector<profile::ThreadData> fresh;
  for (auto it = threads.upper_bound(threads_written_); it != threads.end(); ++it) {
    const ThreadSummary& summary = it->second;
    fresh.push_back({summary.tid, summary.name, summary.started, summary.main});
  }
  writer_.WriteThreads(threads_written_ + 1, fresh);
  threads_written_ += fresh.size();
}

void Checkpoint::WriteSites(const SiteCounts& counts) {
  base::Vector<profile::SiteData> fresh;
  for (const attribute::NamedSite& named : from_.attributor.named_sites()) {
    bool& written = site_written_[static_cast<uint32_t>(named.site)];
    if (std::exchange(written, true)) continue;
    fresh.push_back({static_cast<uint32_t>(named.site), named.kind, 0, named.name, named.module,
                     named.address, named.size_bytes, false});
  }
  for (uint32_t id = 1; id <= ledger::SiteCount(); ++id) {
    const ledger::SiteCounters* site = ledger::CountersOf(SiteId{id});
    // A site made by the drain thread is among the named ones; an id lost in a race has no kind;
    // a site of picked blocks is part of its primary one.
    if (site == nullptr || site->kind == RegionKind::kUnknown || site->of_picked_blocks() ||
        site_written_.contains(id))
      continue;
    if (!counts.Of(SiteId{id}).any() && from_.aggregator.FindSite(SiteId{id}) == nullptr) continue;
    bool& written = site_written_[id];
    if (std::exchange(written, true)) continue;
    fresh.push_back({id,
                     site->kind,
                     from_.stacks.StackOf(site->stack),
                     {},
                     0,
                     0,
                     0,
                     capture::StackWasCut(site->stack)});
  }
  writer_.WriteSites(fresh);
}

void Checkpoint::WriteSiteTotal(SiteId site, const SiteCount& counts) {
  profile::SiteTotalData total = TotalOf(site, counts);
  SiteRecord record;
  if (aggregate::SiteStats* stats = from_.aggregator.FindSite(site)) {
    stats->changed = false;
    record.Fill(*stats, [this](uint64_t code) { return FrameOfCode(code); }, total);
  }
  writer_.AddSiteTotal(total);
}

// Writes the threads that changed, returns the sum over all.
aggregate::Accounting Checkpoint::WriteThreadTotals() {
  aggregate::Accounting process;
  base::HashMap<uint32_t, aggregate::Accounting> living;
  ledger::ForEachThread([&](ledger::ThreadRecord* record) {
    living[record->serial.load(std::memory_order_relaxed)] = LivingUntracked(record);
  });
  for (auto& [serial, stats] : from_.aggregator.threads()) {
    aggregate::Accounting accounting = stats.accounting;
    if (const auto it = living.find(serial); it != living.end()) accounting.Add(it->second);
    process.Add(accounting);
    if (!stats.changed && !everything_) continue;
    stats.changed = false;
    profile::ThreadTotalData total;
    total.thread = serial;
    total.accounting = accounting;
    total.samples_by_node = stats.samples_by_node;
    total.node_changes = stats.node_changes;
    const auto known = from_.observation.threads().find(serial);
    if (known != from_.observation.threads().end()) {
      const ThreadSummary& summary = known->second;
      total.time_enabled_nanos = summary.enabled_nanos;
      total.time_running_nanos = summary.running_nanos;
      total.throttled = summary.throttled;
      total.ended = summary.ended;
      total.name = summary.name;
      total.unobserved_nanos = summary.unobserved_nanos;
      total.not_sampled = summary.not_sampled;
    }
    writer_.AddThreadTotal(total);
  }
  return process;
}

void Checkpoint::WriteTotals(const SiteCounts& counts, bool final, const profile::OwnCostData& own,
                             const profile::EconomyData& economy) {
  writer_.BeginTotals(os::MonotonicNanos(), final);
  aggregate::Accounting process = WriteThreadTotals();
  last_counts_.resize(ledger::SiteCount() + 1);
  for (uint32_t id = 1; id < last_counts_.size(); ++id) {
    const ledger::SiteCounters* site = ledger::CountersOf(SiteId{id});
    if (site != nullptr && site->of_picked_blocks()) continue;
    const SiteCount now = counts.Of(SiteId{id});
    LastCounts& last = last_counts_[id];
    const uint64_t bytes = now.bytes_allocated + now.bytes_freed;
    const aggregate::SiteStats* stats = from_.aggregator.FindSite(SiteId{id});
    const bool same = now.allocations == last.allocations && now.frees == last.frees &&
                      bytes == last.bytes && (stats == nullptr || !stats->changed);
    if (same && !(everything_ && (stats != nullptr || now.any()))) continue;
    last = {now.allocations, now.frees, bytes};
    WriteSiteTotal(SiteId{id}, now);
  }
  placements_.Write(counts, from_.stacks, writer_);
  EndTotals(counts, process, own, economy);
}

// The cost is read last: what comes after it, the last chunk and the footer, is a few microseconds.
void Checkpoint::EndTotals(const SiteCounts& counts, aggregate::Accounting process,
                           profile::OwnCostData own, const profile::EconomyData& economy) {
  const capture::StackStatistics stacks = capture::ReadStackStatistics();
  process.untracked[static_cast<size_t>(UntrackedReason::kStackTableFull)] += stacks.full;
  process.untracked[static_cast<size_t>(UntrackedReason::kBootstrapHeap)] +=
      capture::BootstrapAllocationCount();
  own.allocations_tracked = counts.allocations();
  own.live_blocks = counts.live_blocks();
  own.stacks = capture::StackCount();
  own.stack_cache_hits = stacks.hits;
  own.stack_cache_misses = stacks.misses;
  own.checkpoints = ++checkpoints_;
  own.checkpoint_nanos = nanos_ + os::MonotonicNanos() - begun_;
  own.profile_bytes = file_.written_bytes();
  own.profile_rewrites = file_.rewrites();
  OwnCostInputs inputs = from_.own_cost.Read();
  inputs.checkpoints = checkpoints_;
  inputs.checkpoint_nanos = cpu_nanos_ + inputs.drain_cpu_nanos - cpu_begun_;
  const OwnCostRecord cost(inputs);
  cost.AttachTo(own);
  WriteEventTotals(process, own, economy);
}

void Checkpoint::WriteEventTotals(const aggregate::Accounting& process,
                                  const profile::OwnCostData& own,
                                  const profile::EconomyData& economy) {
  const EngineInUse& engine = from_.observation.engine();
  base::Vector<Observation::RetiredEvent> all = from_.observation.retired_events();
  const base::Vector<Observation::EventSum> sums = from_.observation.SumEvents();
  for (size_t i = 0; i < sums.size() && i < engine.rungs.size(); ++i) {
    const capture::EventLadder& ladder = engine.plan->access[i];
    if (engine.rungs[i] < ladder.size()) all.push_back({&ladder[engine.rungs[i]], sums[i]});
  }
  base::Vector<base::String> attrs;
  base::Vector<profile::EventTotalData> events;
  attrs.reserve(all.size());  // the records borrow from it
  for (const auto& [attempt, sum] : all) {
    const EventCounts& counts = sum.counts;
    attrs.push_back(os::PerfAttrText(attempt->attr));
    events.push_back({attempt->event, attrs.back(), attempt->loss, sum.threads,
                      counts.enabled_nanos, counts.running_nanos, counts.occurrences,
                      counts.samples, counts.lost, counts.throttled});
  }
  base::Vector<profile::CodeFateData> fates;
  for (const auto& [ip, counts] : from_.aggregator.fates().by_code()) {
    fates.push_back({ip == 0 ? 0 : FrameOfCode(ip), counts});
  }
  from_.placement.LookAtNodes();
  const auto frame_of = [this](StackId stack) { return from_.stacks.CallerFrame(stack); };
  writer_.EndTotals(process, own, economy, events, fates, from_.placement.Data(frame_of));
}

void Checkpoint::WriteEvents() {
  const auto& entries = from_.log.entries();
  for (; events_written_ < entries.size(); ++events_written_) {
    const EventLog::Entry& entry = entries[events_written_];
    const profile::EventData data = {entry.time, entry.severity, entry.code, entry.text};
    writer_.WriteEvents(std::span(&data, 1));
  }
}

void Checkpoint::WriteReservoir() {
  base::Vector<profile::RawSampleData> rows;
  for (const aggregate::KeptSample& kept : from_.aggregator.reservoir().kept()) {
    rows.push_back({kept.time, kept.ip, kept.address, kept.thread, kept.cpu, kept.site,
                    kept.evidence, kept.memory_node, kept.latency_cycles, kept.data_src});
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  writer_.WriteRawSamples(rows);
}

void Checkpoint::Write(const char* how, profile::OwnCostData own,
                       const profile::EconomyData& economy) {
  if (file_.path().empty()) return;
  begun_ = os::MonotonicNanos();
  cpu_begun_ = os::ThreadCpuNanos();
  const SiteCounts counts(from_.attributor.regions());
  from_.stacks.Update();
  NoteCodeFrames();
  WriteThreads();
  from_.stacks.Write(writer_);
  WriteSites(counts);
  WriteEvents();
  if (how != nullptr) WriteReservoir();
  WriteTotals(counts, how != nullptr, own, economy);
  if (how != nullptr) writer_.WriteFooter({os::MonotonicNanos(), how});
  if (std::exchange(rewriting_, false)) file_.EndRewrite();
  if (everything_) compact_bytes_ = file_.size_bytes();
  everything_ = false;
  nanos_ += os::MonotonicNanos() - begun_;
  cpu_nanos_ += os::ThreadCpuNanos() - cpu_begun_;
}

}  // namespace memagent::runtime
