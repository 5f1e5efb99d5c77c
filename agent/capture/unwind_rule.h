// How to get from a frame to its caller, packed into one word so that a rule can be published
// to other threads with one store.
//
// Offsets are bytes and multiples of 8; what does not fit the packing is kUncovered.
#ifndef MEMAGENT_AGENT_CAPTURE_UNWIND_RULE_H_
#define MEMAGENT_AGENT_CAPTURE_UNWIND_RULE_H_

#include <cstdint>

namespace memagent::capture {

enum class RuleKind : uint8_t {
  kNoInfo = 0,     // no unwind information covers the address (JIT code, assembler without CFI)
  kUncovered = 1,  // there is information, in a form these rules do not express
  kEnd = 2,        // the outermost frame: its return address is declared undefined
  kSp = 3,         // CFA = sp + cfa_offset
  kFp = 4,         // CFA = rbp + cfa_offset
  kFpDeref = 5,    // CFA = *(rbp + cfa_offset): functions that realign the stack
  kSpDeref = 6,    // CFA = *(sp + cfa_offset)
  kPlt = 7,        // CFA = sp + 8 + (pc % 16 >= cfa_offset / 8 ? 8 : 0): a lazy PLT entry
  kSignal = 8,     // the sigreturn trampoline: sp points to the kernel's ucontext
};

// Where the caller's rbp is.
enum class FpMode : uint8_t {
  kSame = 0,   // untouched so far
  kAtCfa = 1,  // saved at CFA + fp_offset
  kAtFp = 2,   // saved at rbp + fp_offset
  kLost = 3,   // not recoverable
};

struct UnwindRule {
  uint64_t bits = 0;

  constexpr RuleKind kind() const { return static_cast<RuleKind>(bits & 15); }
  constexpr FpMode fp_mode() const { return static_cast<FpMode>((bits >> 4) & 3); }
  constexpr int64_t fp_offset() const { return (static_cast<int64_t>(bits << 32) >> 38) * 8; }
  constexpr int64_t cfa_offset() const { return (static_cast<int64_t>(bits) >> 32) * 8; }
  constexpr bool operator==(const UnwindRule&) const = default;
};

// A rule without operands.
constexpr UnwindRule PlainRule(RuleKind kind) { return {static_cast<uint64_t>(kind)}; }

constexpr bool FitsRuleField(int64_t offset, int bits) {
  const int64_t limit = int64_t{1} << (bits - 1);
  return offset % 8 == 0 && offset / 8 >= -limit && offset / 8 < limit;
}

// 4 bits kind, 2 fp mode, 26 fp, 32 CFA. The return address is always just below the CFA.
constexpr UnwindRule PackRule(RuleKind kind, int64_t cfa_offset, FpMode fp_mode,
                              int64_t fp_offset) {
  if (!FitsRuleField(cfa_offset, 32) || !FitsRuleField(fp_offset, 26)) {
    return PlainRule(RuleKind::kUncovered);
  }
  return {static_cast<uint64_t>(kind) | static_cast<uint64_t>(fp_mode) << 4 |
          (static_cast<uint64_t>(fp_offset / 8) & ((1u << 26) - 1)) << 6 |
          static_cast<uint64_t>(cfa_offset / 8) << 32};
}

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_UNWIND_RULE_H_
