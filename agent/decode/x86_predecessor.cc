#include "agent/decode/x86_predecessor.h"

#include <optional>

namespace memagent::decode {
namespace {

// Rule 3: the compare that may have fused with the jump at `jump.pc`.
std::optional<Instruction> FusedCompare(const Instruction& jump, const FunctionLayout& layout,
                                        InstructionCache& instructions) {
  if (jump.flow != Flow::kBranch || jump.condition >= kUndecidable) return std::nullopt;
  if (!layout.BranchesTo(jump.pc).empty()) return std::nullopt;  // the jump may run without it
  const std::optional<uint64_t> before = layout.Previous(jump.pc);
  if (!before) return std::nullopt;
  const Instruction* compare = instructions.At(*before);
  if (compare == nullptr || !compare->is_compare || !compare->accesses_memory) return std::nullopt;
  return *compare;
}

// Whether the instruction at `pc` is a nop that only pads after code that does not fall through:
// the entries of a procedure linkage table share one unwind entry and are padded like that.
bool IsUnreachablePadding(uint64_t pc, const FunctionLayout& layout,
                          InstructionCache& instructions) {
  while (layout.BranchesTo(pc).empty()) {
    const Instruction* found = instructions.At(pc);
    if (found == nullptr) return false;
    if (!found->is_nop) return !found->FallsThrough();
    const std::optional<uint64_t> previous = layout.Previous(pc);
    if (!previous) return false;
    pc = *previous;
  }
  return false;
}

void AddFallThrough(uint64_t ip, const FunctionLayout& layout, InstructionCache& instructions,
                    Predecessors& out) {
  const std::optional<uint64_t> previous = layout.Previous(ip);
  if (!previous) return;
  if (IsUnreachablePadding(*previous, layout, instructions)) return;
  const Instruction* found = instructions.At(*previous);
  if (found == nullptr || !found->FallsThrough()) return;
  out.has_fall_through = true;
  out.fall_through = *found;
  out.is_after_call = found->flow == Flow::kCall;
  if (found->flow != Flow::kBranch) return;
  out.fall_condition = found->condition;
  const Instruction jump = *found;
  if (const auto compare = FusedCompare(jump, layout, instructions)) out.fall_through = *compare;
}

void AddJump(const DirectBranch& branch, const FunctionLayout& layout,
             InstructionCache& instructions, Predecessors& out) {
  const Instruction* found = instructions.At(branch.source);
  if (found == nullptr) return;
  const Instruction jump = *found;
  ++out.jump_count;
  out.jump_conditions |= 1u << jump.condition;
  if (branch.source >= branch.target) out.has_backward_jump = true;
  const auto compare = FusedCompare(jump, layout, instructions);
  if (!compare) return;
  out.jumps_access = true;
  out.jump_compare_pc = compare->pc;
}

// Whether any jump to IP agrees with the flags (rule 2).
bool AnyJumpPossible(uint32_t conditions, Flags flags) {
  for (uint8_t condition = 0; condition <= kAlways; ++condition) {
    if (((conditions >> condition) & 1) != 0 && IsTaken(condition, flags).value_or(true)) {
      return true;
    }
  }
  return false;
}

bool FallThroughPossible(const Predecessors& found, Flags flags) {
  if (!found.has_fall_through) return false;
  return found.fall_condition == kAlways || !IsTaken(found.fall_condition, flags).value_or(false);
}

Choice ChooseFallThrough(const Predecessors& found) {
  if (found.is_after_call) return {Predecessor::kReturn, false};
  return {found.fall_through.accesses_memory ? Predecessor::kFallThrough : Predecessor::kNoAccess,
          false};
}

Choice ChooseJump(const Predecessors& found) {
  if (!found.jumps_access) return {Predecessor::kNoAccess, false};
  if (found.jump_count == 1) return {Predecessor::kJumpCompare, false};
  return {Predecessor::kUnknown, false};
}

// Rule 6.
Choice ChooseAmongBoth(const Predecessors& found) {
  if (found.is_after_call || found.jumps_access) return {Predecessor::kUnknown, false};
  if (!found.fall_through.accesses_memory) return {Predecessor::kNoAccess, false};
  if (found.has_backward_jump) return {Predecessor::kUnknown, false};
  return {Predecessor::kFallThrough, true};
}

}  // namespace

Predecessors FindPredecessors(uint64_t ip, const FunctionLayout& layout,
                              InstructionCache& instructions) {
  Predecessors out;
  if (!layout.IsBoundary(ip)) {
    out.why = Unresolved::kUndecodable;
    return out;
  }
  out.has_indirect_jump = layout.has_indirect_jump();
  const Instruction* current = instructions.At(ip);
  out.has_repeat = current != nullptr && current->is_repeated;
  AddFallThrough(ip, layout, instructions, out);
  for (const DirectBranch& branch : layout.BranchesTo(ip)) {
    AddJump(branch, layout, instructions, out);
  }
  return out;
}

Choice ChoosePredecessor(const Predecessors& found, Flags flags, uint64_t rcx) {
  if (found.has_repeat && rcx != 0) return {Predecessor::kAtIp, false};
  const bool falls = FallThroughPossible(found, flags);
  const bool jumps = AnyJumpPossible(found.jump_conditions, flags);
  if (falls && jumps) return ChooseAmongBoth(found);
  if (falls) return ChooseFallThrough(found);
  if (jumps) return ChooseJump(found);
  return {};
}

}  // namespace memagent::decode
