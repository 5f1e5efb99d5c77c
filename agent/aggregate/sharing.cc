#include "agent/aggregate/sharing.h"

#include <algorithm>

namespace memagent::aggregate {
namespace {

constexpr size_t kFirstEntries = 4;
constexpr int kMaxHalvings = 63;

}  // namespace

// SplitMix64's finaliser (Steele, Lea, Flood 2014): the upper bits choose what is watched, the lower
// ones the entry.
uint64_t LastAccesses::Hash(uint64_t unit) {
  unit = (unit ^ unit >> 30) * 0xbf58476d1ce4e5b9ull;
  unit = (unit ^ unit >> 27) * 0x94d049bb133111ebull;
  return unit ^ unit >> 31;
}

// That of the unit, or the free one where it belongs. There is one: a table is never full.
LastAccess& LastAccesses::EntryOf(uint64_t unit, uint64_t hash) {
  const size_t mask = entries_.size() - 1;
  size_t at = hash & mask;
  while (entries_[at].unit != 0 && entries_[at].unit != unit) at = (at + 1) & mask;
  return entries_[at];
}

void LastAccesses::Rebuild(size_t size) {
  base::Vector<LastAccess> old(size);
  old.swap(entries_);
  used_ = 0;
  for (const LastAccess& entry : old) {
    if (entry.unit == 0) continue;
    const uint64_t hash = Hash(entry.unit);
    if (!IsWatched(hash)) continue;
    EntryOf(entry.unit, hash) = entry;
    ++used_;
  }
}

// Grows, or drops half of the units; false when there is room for none at all.
bool LastAccesses::MakeRoom(SharingRoom& room) {
  const size_t size = entries_.size();
  const size_t wanted = std::max(kFirstEntries, 2 * size);
  if (used_ < kMaxUnits && room.Take(wanted - size)) {
    Rebuild(wanted);
    return true;
  }
  if (size == 0 || halvings_ == kMaxHalvings) return false;
  ++halvings_;
  Rebuild(size);
  return true;
}

void LastAccesses::Note(const LastAccess& now, SharingCounts& counts, SharingRoom& room) {
  const uint64_t hash = Hash(now.unit);
  // A quarter of the entries stays free.
  while (IsWatched(hash) && (used_ >= kMaxUnits || used_ + 1 > entries_.size() / 4 * 3)) {
    if (!entries_.empty() && EntryOf(now.unit, hash).unit == now.unit) break;
    if (!MakeRoom(room)) return;
  }
  if (!IsWatched(hash)) return;
  LastAccess& last = EntryOf(now.unit, hash);
  if (last.unit == 0) {
    ++used_;
  } else {
    const bool same_node = last.node == now.node;
    ++counts.pairs;
    counts.same_thread += last.thread == now.thread;
    counts.same_node += same_node;
    counts.other_node_written += !same_node && (last.stored || now.stored);
  }
  last = now;
}

void Sharing::Note(uint64_t address, uint64_t block, LastAccess access, SharingRoom& room) {
  for (size_t i = 0; i < kSharingUnitCount; ++i) {
    const uint64_t bytes = kSharingUnitBytes[i];
    if (bytes == 0 && block == 0) continue;
    access.unit = (bytes == 0 ? block : address / bytes) + 1;
    last_[i].Note(access, counts_[i], room);
  }
}

}  // namespace memagent::aggregate
