#include "viewer/import/logged_blocks.h"

#include <algorithm>
#include <iterator>

namespace memagent::importer {

void LoggedBlocks::Advance(uint64_t time_nanos) {
  for (; next_ < log_.events.size() && log_.events[next_].time_nanos <= time_nanos; ++next_) {
    const LoggedEvent& event = log_.events[next_];
    event.is_free ? Free(event) : Allocate(event);
  }
}

std::optional<uint32_t> LoggedBlocks::Find(int32_t pid, uint64_t address) const {
  const auto process = live_.find(pid);
  if (process == live_.end()) return std::nullopt;
  auto block = process->second.upper_bound(address);
  if (block == process->second.begin()) return std::nullopt;
  --block;
  if (address - block->first >= block->second.size_bytes) return std::nullopt;
  return block->second.name;
}

void LoggedBlocks::Allocate(const LoggedEvent& event) {
  Blocks& blocks = live_[event.pid];
  auto next = blocks.lower_bound(event.address);
  const auto overlaps = [&](const auto& block) {
    return block.first < event.address + std::max<uint64_t>(event.size_bytes, 1) &&
           event.address < block.first + std::max<uint64_t>(block.second.size_bytes, 1);
  };
  // Their frees are missing.
  if (next != blocks.begin() && overlaps(*std::prev(next))) --next;
  while (next != blocks.end() && overlaps(*next)) {
    ++contradictions_;
    next = Remove(blocks, next);
  }
  blocks.emplace_hint(next, event.address, Block{event.size_bytes, event.name});
  LoggedCounts& counts = counts_[event.name];
  ++counts.allocations;
  counts.bytes_allocated += event.size_bytes;
  counts.bytes_peak = std::max(counts.bytes_peak, counts.bytes_allocated - counts.bytes_freed);
}

void LoggedBlocks::Free(const LoggedEvent& event) {
  if (event.address == 0) return;  // free(NULL)
  Blocks& blocks = live_[event.pid];
  const auto block = blocks.find(event.address);
  if (block == blocks.end()) {
    ++contradictions_;
    return;
  }
  Remove(blocks, block);
}

LoggedBlocks::Blocks::iterator LoggedBlocks::Remove(Blocks& blocks, Blocks::iterator block) {
  LoggedCounts& counts = counts_[block->second.name];
  ++counts.frees;
  counts.bytes_freed += block->second.size_bytes;
  return blocks.erase(block);
}

}  // namespace memagent::importer
