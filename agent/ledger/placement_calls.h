// Calls of the program that say where memory or threads shall be (mbind, sched_setaffinity, ...),
// from any host thread to the drain thread. They are rare: one bounded queue for all threads.
//
//   slot state   2 lap: free    2 lap + 1: filled      (lap = ticket / kPlacementSlots)
//
// Producers: any host thread, also in a signal handler; nothing is waited for, a full queue refuses
// and counts. Consumer: the drain thread.
#ifndef MEMAGENT_AGENT_LEDGER_PLACEMENT_CALLS_H_
#define MEMAGENT_AGENT_LEDGER_PLACEMENT_CALLS_H_

#include <cstdint>

#include "agent/base/bit_mask.h"
#include "agent/base/types.h"

namespace memagent::ledger {

enum class PlacementKind : uint8_t {
  kMbind,
  kSetMempolicy,
  kSetMempolicyHomeNode,
  kMovePages,
  kMigratePages,
  kSchedSetaffinity,
  kPthreadSetaffinity,
};

// The call's name.
constexpr const char* NameOf(PlacementKind kind) {
  constexpr const char* kNames[] = {
      "mbind",         "set_mempolicy",     "set_mempolicy_home_node", "move_pages",
      "migrate_pages", "sched_setaffinity", "pthread_setaffinity_np"};
  return kNames[static_cast<uint8_t>(kind)];
}

// Whether a granted call of this kind changes the policy of the mappings it names.
constexpr bool IsOfMapping(PlacementKind kind) {
  return kind == PlacementKind::kMbind || kind == PlacementKind::kSetMempolicyHomeNode;
}

struct PlacementCall {
  PlacementKind kind = PlacementKind::kMbind;
  bool mask_is_cpus = false;      // `mask` names CPUs, not nodes
  bool target_is_handle = false;  // `target` is a pthread_t
  int error = 0;                  // errno of a refused call; 0: it was granted
  uint32_t mode_and_flags = 0;    // of a policy
  Tid thread = 0;                 // that called
  StackId stack = StackId::kNone;
  uint64_t tsc = 0;      // after the call
  uint64_t address = 0;  // 0: memory is not meant
  uint64_t size_bytes = 0;
  uint64_t target = 0;  // of whom; 0: the caller
  base::BitMask mask;   // empty for a refused call: its memory may not be readable
};

// A program on a machine of many CPUs pins each of its threads within a millisecond.
inline constexpr uint64_t kPlacementSlots = 1024;

// False, and counted, when the queue is full.
bool PushPlacementCall(const PlacementCall& call);

// How many wait for the drain thread, about.
uint64_t WaitingPlacementCalls();

// One that could not be recorded, refused by the kernel with `error` (0: granted), is lost, too.
void LosePlacementCall(PlacementKind kind, int error);

// Whether there was one; calls that other threads are still writing come later.
bool PopPlacementCall(PlacementCall& call);

// Calls that never come, and those of them that were granted and said where memory shall be.
struct LostCalls {
  uint64_t all = 0;
  uint64_t of_threads = 0;   // changed a thread's policy
  uint64_t of_mappings = 0;  // changed that of a mapping
};
LostCalls LostPlacementCalls();

// In the child of fork, before it has another thread: what its parent called is not its own.
void ForgetPlacementCalls();

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_PLACEMENT_CALLS_H_
