#include "agent/profile/reader_merge.h"

#include <algorithm>
#include <utility>

namespace memagent::profile {
namespace {

// Far above what a 64 MiB file of the agent can hold, low enough that a hostile file can't take
// gigabytes. SiteId has 22 bits, but a site takes at least 60 bytes with its total.
constexpr size_t kMaxStrings = size_t{1} << 22;
constexpr size_t kMaxModules = size_t{1} << 18;
constexpr size_t kMaxThreads = size_t{1} << 19;
constexpr size_t kMaxFrames = size_t{1} << 23;
constexpr size_t kMaxStacks = size_t{1} << 24;
constexpr size_t kMaxSites = size_t{1} << 20;
constexpr size_t kMaxRawSamples = size_t{1} << 22;
constexpr size_t kMaxPlacements = 1024;
constexpr size_t kMaxPlacementCalls = 1024;  // the agent keeps 256
constexpr size_t kMaxNodes = 1024;           // the kernel's largest MAX_NUMNODES
constexpr size_t kMaxEvents = size_t{1} << 16;
constexpr size_t kMaxStringBytes = size_t{16} << 10;
constexpr size_t kMaxPendingParts = size_t{1} << 12;

// Value of a column at a row; a column that is too short reads as zeros.
template <typename Column>
auto At(const Column& column, int row) {
  return row < column.size() ? column.Get(row) : 0;
}

template <typename Rows, typename Record>
void AssignFirst(const Rows& rows, size_t limit, std::vector<Record>& result) {
  const size_t count = std::min(limit, static_cast<size_t>(rows.size()));
  result.assign(rows.begin(), rows.begin() + static_cast<int>(count));
}

}  // namespace

template <typename Table>
size_t Merger::Place(Table& table, uint32_t first, size_t count, size_t limit) {
  const size_t start = first == 0 ? table.size() : first;
  const size_t end = start + count;
  if (count == 0) return 0;
  if (end > std::min(limit, id_limit_ + 1)) {
    profile_.load.bad_references += count;
    return 0;
  }
  if (table.size() < end) table.resize(end);
  return start;
}

void Merger::AddStrings(v1::StringTable&& strings) {
  const int count = strings.text_size();
  const size_t start = Place(profile_.strings, strings.first(), count, kMaxStrings);
  if (start == 0) return;
  for (int i = 0; i < count; ++i) {
    std::string& text = profile_.strings[start + i] = std::move(*strings.mutable_text(i));
    if (text.size() <= kMaxStringBytes) continue;
    text = text.substr(0, kMaxStringBytes);
    ++profile_.load.strings_cut;
  }
}

void Merger::AddModules(v1::Modules&& modules) {
  const int count = modules.module_size();
  if (const size_t start = Place(profile_.modules, modules.first(), count, kMaxModules)) {
    for (int i = 0; i < count; ++i) {
      profile_.modules[start + i] = std::move(*modules.mutable_module(i));
    }
  }
  for (const v1::ModuleUnload& unload : modules.unload()) {
    if (unload.module() == 0 || unload.module() >= profile_.modules.size()) {
      ++profile_.load.bad_references;
      continue;
    }
    profile_.modules[unload.module()].set_unloaded(unload.unloaded());
  }
}

void Merger::AddThreads(v1::Threads&& threads) {
  const int count = threads.thread_size();
  const size_t start = Place(profile_.threads, threads.first(), count, kMaxThreads);
  if (start == 0) return;
  for (int i = 0; i < count; ++i) {
    profile_.threads[start + i].start = std::move(*threads.mutable_thread(i));
  }
}

void Merger::AddCallStacks(const v1::CallStacks& stacks) {
  const int frames = stacks.frame_address_size();
  if (const size_t start = Place(profile_.frames, stacks.first_frame(), frames, kMaxFrames)) {
    for (int i = 0; i < frames; ++i) {
      Frame& frame = profile_.frames[start + i];
      frame.module = At(stacks.frame_module(), i);
      frame.address = stacks.frame_address(i);
      frame.is_instruction = At(stacks.frame_is_instruction(), i);
    }
  }
  const int nodes = stacks.stack_frame_size();
  if (const size_t start = Place(profile_.stacks, stacks.first_stack(), nodes, kMaxStacks)) {
    for (int i = 0; i < nodes; ++i) {
      profile_.stacks[start + i] = Stack{At(stacks.stack_parent(), i), stacks.stack_frame(i)};
    }
  }
}

Site* Merger::SiteOf(uint32_t id) {
  const auto it = profile_.sites.find(id);
  if (it != profile_.sites.end()) return &it->second;
  if (profile_.sites.size() >= kMaxSites) {
    ++profile_.load.bad_references;
    return nullptr;
  }
  return &profile_.sites[id];
}

void Merger::AddSites(v1::Sites&& sites) {
  for (v1::Site& site : *sites.mutable_site()) {
    if (Site* slot = SiteOf(site.id())) slot->site = std::move(site);
  }
}

void Merger::AddTotals(v1::Totals&& totals) {
  if (!pending_.empty() && pending_.front().time() != totals.time()) pending_.clear();
  if (totals.more()) {
    if (pending_.size() < kMaxPendingParts) pending_.push_back(std::move(totals));
    return;
  }
  profile_.checkpoint_time = totals.time();
  profile_.final = totals.final();
  profile_.accounting = std::move(*totals.mutable_accounting());
  profile_.own_cost = std::move(*totals.mutable_own_cost());
  profile_.economy = std::move(*totals.mutable_economy());
  profile_.event_totals.assign(totals.event().begin(), totals.event().end());
  profile_.code_fates.assign(totals.fate().begin(), totals.fate().end());
  TakePlacement(totals);
  for (v1::Totals& part : pending_) ApplyTotals(std::move(part));
  pending_.clear();
  ApplyTotals(std::move(totals));
}

void Merger::TakePlacement(const v1::Totals& totals) {
  AssignFirst(totals.placement_call(), kMaxPlacementCalls, profile_.placement_calls);
  profile_.placement_calls_left_out = totals.placement_calls_left_out() +
                                      static_cast<uint64_t>(totals.placement_call_size()) -
                                      profile_.placement_calls.size();
  AssignFirst(totals.node(), kMaxNodes, profile_.node_counters);
  profile_.numa_pages_migrated = totals.numa_pages_migrated();
  profile_.numa_hint_faults = totals.numa_hint_faults();
  profile_.applied_placements.clear();  // each part may have some
}

void Merger::ApplyTotals(v1::Totals&& totals) {
  for (v1::ThreadTotal& total : *totals.mutable_thread()) {
    // The thread's own record may be lost: its numbers are kept all the same.
    const size_t id = total.thread();
    if (id != 0 && Place(profile_.threads, total.thread(), 1, kMaxThreads) == 0) continue;
    profile_.threads[id].total = std::move(total);
  }
  for (v1::SiteTotal& total : *totals.mutable_site()) {
    if (Site* slot = SiteOf(total.site())) slot->total = std::move(total);
  }
  for (v1::AppliedPlacement& placement : *totals.mutable_applied_placement()) {
    if (profile_.applied_placements.size() < kMaxPlacements) {
      profile_.applied_placements.push_back(std::move(placement));
    }
  }
}

void Merger::AddRawSamples(const v1::RawSamples& samples) {
  if (!samples.continued()) profile_.raw_samples.clear();
  const size_t room = kMaxRawSamples - profile_.raw_samples.size();
  const int count = static_cast<int>(std::min<size_t>(samples.time_size(), room));
  for (int i = 0; i < count; ++i) {
    profile_.raw_samples.push_back(RawSample{
        samples.time(i), At(samples.ip(), i), At(samples.address(), i), At(samples.thread(), i),
        At(samples.cpu(), i), At(samples.site(), i), At(samples.evidence(), i),
        At(samples.memory_node(), i), At(samples.latency_cycles(), i), At(samples.data_src(), i)});
  }
}

void Merger::AddSymbols(const v1::Symbols& symbols) {
  for (int i = 0; i < symbols.frame_size(); ++i) {
    const uint32_t id = symbols.frame(i);
    if (id == 0 || id >= profile_.frames.size()) {
      ++profile_.load.bad_references;
      continue;
    }
    profile_.frames[id].function = At(symbols.function(), i);
    profile_.frames[id].function_offset = At(symbols.function_offset(), i);
  }
}

void Merger::Add(v1::Chunk&& chunk) {
  switch (chunk.body_case()) {
    case v1::Chunk::kHeader:
      profile_.header = std::move(*chunk.mutable_header());
      return;
    case v1::Chunk::kStrings:
      return AddStrings(std::move(*chunk.mutable_strings()));
    case v1::Chunk::kModules:
      return AddModules(std::move(*chunk.mutable_modules()));
    case v1::Chunk::kThreads:
      return AddThreads(std::move(*chunk.mutable_threads()));
    case v1::Chunk::kCallStacks:
      return AddCallStacks(chunk.call_stacks());
    case v1::Chunk::kSites:
      return AddSites(std::move(*chunk.mutable_sites()));
    case v1::Chunk::kTotals:
      return AddTotals(std::move(*chunk.mutable_totals()));
    case v1::Chunk::kSamples:
      return AddRawSamples(chunk.samples());
    case v1::Chunk::kEvents:
      for (v1::Event& event : *chunk.mutable_events()->mutable_event()) {
        if (profile_.events.size() < kMaxEvents) profile_.events.push_back(std::move(event));
      }
      return;
    case v1::Chunk::kSymbols:
      return AddSymbols(chunk.symbols());
    case v1::Chunk::kFooter:
      profile_.footer = std::move(*chunk.mutable_footer());
      return;
    case v1::Chunk::BODY_NOT_SET:
      return;  // a record of a newer minor version
  }
}

Profile Merger::Finish() {
  RepairReferences(profile_);
  return std::move(profile_);
}

}  // namespace memagent::profile
