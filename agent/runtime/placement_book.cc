#include "agent/runtime/placement_book.h"

#include <algorithm>

namespace memagent::runtime {
namespace {

using ledger::PlacementCall;
using ledger::PlacementKind;

bool Equal(const PlacementCall& a, const PlacementCall& b) {
  return a.kind == b.kind && a.thread == b.thread && a.stack == b.stack &&
         a.mode_and_flags == b.mode_and_flags && a.mask == b.mask;
}

}  // namespace

PlacementRow* PlacementBook::RowOf(const PlacementCall& call, int32_t target_tid) {
  for (PlacementRow& row : rows_) {
    if (Equal(row.first, call) && row.target_tid == target_tid) return &row;
  }
  if (rows_.size() >= kMaxRows) return nullptr;
  PlacementRow& row = rows_.emplace_back();
  row.first = call;
  row.target_tid = target_tid;
  return &row;
}

void PlacementBook::Add(const PlacementCall& call, Nanos time, SiteId site, int32_t target_tid) {
  NotePolicy(call, time);
  PlacementRow* row = RowOf(call, target_tid);
  if (row == nullptr) {
    ++beyond_;
    return;
  }
  if (row->calls++ == 0) {
    row->time = time;
    row->site = site;
  }
  row->size_bytes += call.size_bytes;
  if (call.error == 0) return;
  if (row->refused++ == 0) row->refused_errno = call.error;
}

void PlacementBook::NotePolicy(const PlacementCall& call, Nanos time) {
  if (call.error != 0) return;
  if (call.kind == PlacementKind::kSetMempolicy) {
    if (changes_.size() >= kMaxChanges) {
      forgot_changes_ = true;
      return;
    }
    changes_.push_back({call.thread, time, os::MakePolicy(call.mode_and_flags, call.mask)});
  }
  if (!ledger::IsOfMapping(call.kind)) return;
  const Placed placed = {call.address, call.address + call.size_bytes, time};
  if (placed_.size() < kMaxPlaced) {
    placed_.push_back(placed);
    return;
  }
  Placed& oldest = placed_[next_placed_++ % kMaxPlaced];
  forgot_placed_ = std::max(forgot_placed_, oldest.time);
  oldest = placed;
}

// Where a lost one placed a mapping is not known: any mapping may have been, up to now.
void PlacementBook::SetLost(const ledger::LostCalls& lost, Nanos now) {
  if (lost.of_mappings != lost_.of_mappings) forgot_placed_ = std::max(forgot_placed_, now);
  lost_ = lost;
}

const os::MemoryPolicy* PlacementBook::LastSet(Tid tid, Nanos time) const {
  for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
    if (change->tid == tid && change->time <= time) return &change->policy;
  }
  return nullptr;
}

bool PlacementBook::SetAround(Tid tid, Nanos time) const {
  return std::any_of(changes_.begin(), changes_.end(), [&](const Change& change) {
    const Nanos apart = change.time > time ? change.time - time : time - change.time;
    return change.tid == tid && apart < clock_error_;
  });
}

bool PlacementBook::PlacedSince(uint64_t address, Nanos since) const {
  since -= std::min(since, clock_error_);
  if (forgot_placed_ >= since && forgot_placed_ != 0) return true;
  return std::any_of(placed_.begin(), placed_.end(), [=](const Placed& placed) {
    return placed.time >= since && address >= placed.start && address < placed.end;
  });
}

}  // namespace memagent::runtime
