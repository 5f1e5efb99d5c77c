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
constinit std::atomic<uint64_t> tail{0};  // the drain thread's
constinit std::atomic<uint64_t> lost{0};
constinit std::atomic<uint64_t> lost_of_threads{0};
constinit std::atomic<uint64_t> lost_of_mappings{0};

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

bool PushPlacementCall(const PlacementCall& call) {
  uint64_t ticket = head.load(kRelaxed);
  while (true) {
    Slot& slot = slots[ticket % kPlacementSlots];
    const uint64_t free_state = 2 * (ticket / kPlacementSlots);
    const uint64_t state = slot.state.load(std::memory_order_acquire);
    if (state < free_state) {  // a lap behind: not taken yet
      LosePlacementCall(call.kind, call.error);
      return false;
    }
    if (state > free_state) {  // another thread was faster
      ticket = head.load(kRelaxed);
      continue;
    }
    if (head.compare_exchange_weak(ticket, ticket + 1, kRelaxed)) {
      slot.call = call;
      slot.state.store(free_state + 1, std::memory_order_release);
      return true;
    }
  }
}

uint64_t WaitingPlacementCalls() {
  const uint64_t taken = tail.load(kRelaxed);
  const uint64_t pushed = head.load(kRelaxed);
  return pushed > taken ? pushed - taken : 0;
}

void LosePlacementCall(PlacementKind kind, int error) {
  lost.fetch_add(1, kRelaxed);
  if (error != 0) return;
  if (kind == PlacementKind::kSetMempolicy) lost_of_threads.fetch_add(1, kRelaxed);
  if (IsOfMapping(kind)) lost_of_mappings.fetch_add(1, kRelaxed);
}

bool PopPlacementCall(PlacementCall& call) {
  const uint64_t next = tail.load(kRelaxed);
  Slot& slot = slots[next % kPlacementSlots];
  const uint64_t filled = 2 * (next / kPlacementSlots) + 1;
  if (slot.state.load(std::memory_order_acquire) != filled) return false;
  call = slot.call;
  slot.state.store(filled + 1, std::memory_order_release);
  tail.store(next + 1, kRelaxed);
  return true;
}

LostCalls LostPlacementCalls() {
  return {lost.load(kRelaxed), lost_of_threads.load(kRelaxed), lost_of_mappings.load(kRelaxed)};
}

void ForgetPlacementCalls() {
  const uint64_t used = head.load(kRelaxed);
  for (uint64_t i = 0; i < kPlacementSlots && i < used; ++i) slots[i].state.store(0);
  head.store(0);
  tail.store(0);
  for (auto* count : {&lost, &lost_of_threads, &lost_of_mappings}) count->store(0);
}

}  // namespace memagent::ledger
