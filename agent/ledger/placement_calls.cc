#include "agent/ledger/placement_calls.h"

#include <atomic>

namespace memagent::ledger {
namespace {

struct Slot {
  std::atomic<uint64_t> state;
  PlacementCall call;
};

// Untouched until the first call: pages of .bss.
constinit Slot slots[kPlacementSlots] = {};
constinit std::atomic<uint64_t> head{0};
constinit uint64_t tail = 0;  // drain thread
constinit std::atomic<uint64_t> lost{0};

}  // namespace

bool PushPlacementCall(const PlacementCall& call) {
  uint64_t ticket = head.load(std::memory_order_relaxed);
  while (true) {
    Slot& slot = slots[ticket % kPlacementSlots];
    const uint64_t free_state = 2 * (ticket / kPlacementSlots);
    const uint64_t state = slot.state.load(std::memory_order_acquire);
    if (state < free_state) {  // a lap behind: not taken yet
      lost.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    if (state > free_state) {  // another thread was faster
      ticket = head.load(std::memory_order_relaxed);
      continue;
    }
    if (head.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed)) {
      slot.call = call;
      slot.state.store(free_state + 1, std::memory_order_release);
      return true;
    }
  }
}

void LosePlacementCall() { lost.fetch_add(1, std::memory_order_relaxed); }

bool PopPlacementCall(PlacementCall& call) {
  Slot& slot = slots[tail % kPlacementSlots];
  const uint64_t filled = 2 * (tail / kPlacementSlots) + 1;
  if (slot.state.load(std::memory_order_acquire) != filled) return false;
  call = slot.call;
  slot.state.store(filled + 1, std::memory_order_release);
  ++tail;
  return true;
}

uint64_t LostPlacementCalls() { return lost.load(std::memory_order_relaxed); }

void ForgetPlacementCalls() {
  const uint64_t used = head.load(std::memory_order_relaxed);
  for (uint64_t i = 0; i < kPlacementSlots && i < used; ++i) slots[i].state.store(0);
  head.store(0);
  tail = 0;
  lost.store(0);
}

}  // namespace memagent::ledger
