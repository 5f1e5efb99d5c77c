// Counts of allocation events that could not be recorded, by reason. Written by the owner thread,
// read by the drain thread.
#ifndef MEMAGENT_AGENT_LEDGER_UNTRACKED_H_
#define MEMAGENT_AGENT_LEDGER_UNTRACKED_H_

#include <atomic>
#include <cstdint>

namespace memagent::ledger {

enum class Untracked : uint8_t {
  kReentrant,      // an allocation made while the same thread was inside a hook
  kNoMemory,       // the kernel refused the agent memory for its tables
  kSlotOccupied,   // two live blocks start in one 32-byte granule
  kUnknownFree,    // a free of a block that was never seen: older than the agent, or not from it
  kMissedFree,     // an address was given out again without a free that we saw
  kSiteTableFull,  // booked on no site
  kHistoryFull,    // a dead block's record found its ring full
  kRegionFull,     // an mmap-family event found its ring full
};
inline constexpr int kUntrackedCount = 8;

struct UntrackedCounts {
  std::atomic<uint64_t> count[kUntrackedCount];
  void Add(Untracked reason) {  // single writer
    std::atomic<uint64_t>& counter = count[static_cast<int>(reason)];
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  uint64_t Read(Untracked reason) const {
    return count[static_cast<int>(reason)].load(std::memory_order_relaxed);
  }
};

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_UNTRACKED_H_
