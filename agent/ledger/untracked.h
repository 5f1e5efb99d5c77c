// Counts of allocation events that could not be recorded, by reason. Written by the owner thread,
// read by the drain thread.
#ifndef MEMAGENT_AGENT_LEDGER_UNTRACKED_H_
#define MEMAGENT_AGENT_LEDGER_UNTRACKED_H_

#include <atomic>
#include <cstdint>

#include "agent/base/reasons.h"

namespace memagent::ledger {

struct UntrackedCounts {
  std::atomic<uint64_t> count[kUntrackedReasonCount];
  void Add(UntrackedReason reason) {  // single writer
    std::atomic<uint64_t>& counter = count[static_cast<size_t>(reason)];
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  uint64_t Read(UntrackedReason reason) const {
    return count[static_cast<size_t>(reason)].load(std::memory_order_relaxed);
  }
};

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_UNTRACKED_H_
