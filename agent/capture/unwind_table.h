// The compiled rules of every code address met so far, shared by all threads without a lock.
//
// 65,536 slots of 16 bytes, found by address with up to 8 probes; a full neighbourhood loses its
// home entry, which is compiled again when it is next needed (about 250 ns).
#ifndef MEMAGENT_AGENT_CAPTURE_UNWIND_TABLE_H_
#define MEMAGENT_AGENT_CAPTURE_UNWIND_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/capture/unwind_rule.h"

namespace memagent::capture {

// key = address (47 bits) | generation << 47. A reader accepts `rule` only when it sees the same
// key before and after; a writer sets the key to a value that no reader asks for in between.
struct RuleSlot {
  std::atomic<uint64_t> key{0};
  std::atomic<uint64_t> rule{0};
};

inline constexpr size_t kRuleSlots = size_t{1} << 16;
inline constexpr size_t kRuleProbes = 8;
// User space of x86-64 with four-level paging.
inline constexpr unsigned kAddressBits = 47;

extern RuleSlot rule_slots[kRuleSlots];
// The current generation, already shifted into its place in a key.
extern std::atomic<uint64_t> rule_generation;

// Code that lies together is found together: a page of code shares a page of the table, so that
// the resident part grows with the code in use.
inline size_t HomeSlot(uintptr_t ip) { return (ip >> 4) ^ (ip >> 18); }

// Compiles the rule of `ip` and adds it to the table.
UnwindRule CompileAndInsert(uintptr_t ip);

// The rule in `slot` when it belongs to `key`.
inline bool ReadSlot(const RuleSlot& slot, uint64_t key, UnwindRule& rule) {
  if (slot.key.load(std::memory_order_acquire) != key) return false;
  rule.bits = slot.rule.load(std::memory_order_acquire);
  return slot.key.load(std::memory_order_relaxed) == key;
}

// Looks in the other places an address can be, and compiles its rule when it is nowhere.
UnwindRule FindOrCompile(uintptr_t ip);

// The rule of the instruction at `ip` (for a caller: return address - 1), which must be below
// 2^47. Calling thread: any, also inside a hook.
inline UnwindRule LookUpRule(uintptr_t ip) {
#if defined(__x86_64__)
  UnwindRule rule;
  const uint64_t key = ip | rule_generation.load(std::memory_order_acquire);
  if (ReadSlot(rule_slots[HomeSlot(ip) % kRuleSlots], key, rule)) [[likely]]
    return rule;
  return FindOrCompile(ip);
#else
  // AArch64: frames are linked by x29 in everything Debian builds; the record (x29, x30) has the
  // layout of rbp and return address.
  static_cast<void>(ip);
  return PackRule(RuleKind::kFp, 16, FpMode::kAtCfa, -16);
#endif
}

// Changes when addresses may mean other code: what was derived from rules is void then.
inline uint64_t UnwindGeneration() { return rule_generation.load(std::memory_order_acquire); }
// Forgets every rule. Lock-free: old entries stop matching. Calling thread: any.
void ForgetRules();

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_UNWIND_TABLE_H_
