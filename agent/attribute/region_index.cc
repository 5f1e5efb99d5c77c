#include "agent/attribute/region_index.h"

#include <algorithm>

namespace memagent::attribute {

using ledger::RegionEvent;

namespace {

// The kernel maps and unmaps whole pages.
uint64_t PageEnd(uint64_t start, uint64_t size) { return (start + size + 4095) & ~uint64_t{4095}; }

// A break ends at any byte, and the next one goes on there.
uint64_t EndOf(const RegionEvent& event) {
  const bool exact = event.kind == RegionEvent::Kind::kBreak;
  return exact ? event.start + event.size : PageEnd(event.start, event.size);
}

}  // namespace

void RegionIndex::Apply(const RegionEvent& event) {
  const uint64_t end = EndOf(event);
  RegionKind kind = event.region;
  switch (event.kind) {
    case RegionEvent::Kind::kUnmap:
      Remove(event.start, end, event.tsc);
      return;
    case RegionEvent::Kind::kDetach:
      RemoveWhole(event.start, event.tsc);
      return;
    case RegionEvent::Kind::kRemap:
      kind = KindAt(event.old_start, kind);
      Remove(event.old_start, PageEnd(event.old_start, event.old_size), event.tsc);
      break;
    default:
      break;
  }
  if (event.size == 0 || end <= event.start) return;
  Remove(event.start, end, event.tsc);
  Insert({event.start, end, event.site, kind, event.tsc, ~uint64_t{0}, ++mappings_});
}

RegionKind RegionIndex::KindAt(uint64_t address, RegionKind otherwise) const {
  const auto it = live_.upper_bound(address);
  if (it == live_.begin() || std::prev(it)->second.end <= address) return otherwise;
  return std::prev(it)->second.kind;
}

void RegionIndex::Insert(const Region& region) {
  live_[region.start] = region;
  CountMapped(region);
}

void RegionIndex::Remove(uint64_t start, uint64_t end, uint64_t tsc) {
  auto it = live_.upper_bound(start);
  if (it != live_.begin() && std::prev(it)->second.end > start) --it;
  while (start < end && it != live_.end() && it->second.start < end) {
    const Region old = it->second;
    if (old.born_tsc > tsc) {  // another thread's newer mapping, whose event came a tick earlier
      ++it;
      continue;
    }
    it = live_.erase(it);
    Cut(old, start, end, tsc);
  }
}

void RegionIndex::Cut(const Region& old, uint64_t start, uint64_t end, uint64_t tsc) {
  Region gone = old;
  gone.start = std::max(old.start, start);
  gone.end = std::min(old.end, end);
  gone.died_tsc = tsc;
  dead_.push_back(gone);
  int pieces = 0;
  if (old.start < gone.start) {
    Region left = old;
    left.end = gone.start;
    live_[left.start] = left;
    ++pieces;
  }
  if (gone.end < old.end) {
    Region right = old;
    right.start = gone.end;
    live_[right.start] = right;
    ++pieces;
  }
  CountUnmapped(old, gone.end - gone.start, pieces);
}

void RegionIndex::KeepMapped(const AddressSpace& space, uint64_t read_tsc) {
  base::Vector<std::pair<uint64_t, uint64_t>> holes;
  for (const auto& [start, region] : live_) {
    for (uint64_t at = start; at < region.end;) {
      const auto range = space.FindFrom(at);
      const uint64_t hole_end = range ? std::min(range->start, region.end) : region.end;
      if (hole_end > at) holes.emplace_back(at, hole_end);
      at = range ? range->end : region.end;
    }
  }
  for (const auto& [start, end] : holes) Remove(start, end, read_tsc);
}

void RegionIndex::RemoveWhole(uint64_t start, uint64_t tsc) {
  const auto it = live_.find(start);
  if (it != live_.end()) Remove(start, it->second.end, tsc);
}

void RegionIndex::CountMapped(const Region& region) {
  if (region.kind == RegionKind::kFile) return;
  RegionCounts& counts = counts_[static_cast<uint32_t>(region.site)];
  ++counts.allocations;
  counts.bytes_allocated += region.end - region.start;
  counts.bytes_peak = std::max(counts.bytes_peak, counts.bytes_allocated - counts.bytes_freed);
}

void RegionIndex::CountUnmapped(const Region& region, uint64_t bytes, int pieces_left) {
  if (region.kind == RegionKind::kFile) return;
  RegionCounts& counts = counts_[static_cast<uint32_t>(region.site)];
  counts.bytes_freed += bytes;
  if (pieces_left == 2) ++extra_pieces_[region.mapping];
  if (pieces_left != 0) return;
  const auto extra = extra_pieces_.find(region.mapping);
  if (extra == extra_pieces_.end()) {
    ++counts.frees;
  } else if (--extra->second == 0) {
    extra_pieces_.erase(extra);
  }
}

std::optional<Region> RegionIndex::Find(uint64_t address, uint64_t tsc) const {
  auto it = live_.upper_bound(address);
  if (it != live_.begin()) {
    const Region& region = std::prev(it)->second;
    if (address < region.end && region.born_tsc <= tsc) return region;
  }
  for (const Region& region : dead_) {
    if (address - region.start < region.end - region.start && region.born_tsc <= tsc &&
        tsc < region.died_tsc) {
      return region;
    }
  }
  return std::nullopt;
}

void RegionIndex::ForgetBefore(uint64_t settled_tsc) {
  std::erase_if(dead_, [=](const Region& region) { return region.died_tsc < settled_tsc; });
}

}  // namespace memagent::attribute
