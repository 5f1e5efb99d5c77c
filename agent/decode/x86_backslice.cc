#include "agent/decode/x86_backslice.h"

#include <optional>

namespace memagent::decode {

Backslice::Backslice(const Instruction& access, const std::array<uint64_t, kGprCount>& after,
                     bool include_earlier, const FunctionLayout& layout,
                     InstructionCache& instructions)
    : after_(after) {
  run_[begin_] = access;
  if (include_earlier) Prepend(layout, instructions);
}

// Extends the run to earlier instructions as long as each is the only way to the next.
void Backslice::Prepend(const FunctionLayout& layout, InstructionCache& instructions) {
  while (begin_ > 0) {
    const uint64_t head = run_[begin_].pc;
    if (!layout.BranchesTo(head).empty()) return;
    const std::optional<uint64_t> previous = layout.Previous(head);
    if (!previous) return;
    const Instruction* found = instructions.At(*previous);
    if (found == nullptr || (found->flow != Flow::kNext && found->flow != Flow::kBranch)) return;
    run_[--begin_] = *found;
  }
}

Value Backslice::BeforeAccess(Gpr gpr) { return Before(kMaxRun - 1, gpr); }

Inputs Backslice::InputsOf(size_t position, bool with_destination) {
  const Instruction& instruction = run_[position];
  // For an inverse the register being asked for must not be asked for again.
  const auto value = [&](Gpr gpr) -> Value {
    if (gpr == kNoGpr || (!with_destination && gpr == instruction.destination)) return std::nullopt;
    return Before(position, gpr);
  };
  Inputs inputs;
  if (with_destination) inputs.destination = value(instruction.destination);
  inputs.source = value(instruction.source);
  if (instruction.op == Op::kLea) {
    inputs.base = value(instruction.address.base);
    inputs.index = value(instruction.address.index);
  }
  return inputs;
}

Value Backslice::ThroughInverse(size_t writer, Gpr gpr) {
  const Instruction& instruction = run_[writer];
  if (gpr == kRsp && instruction.stack_delta != 0) {
    const Value after = Before(writer + 1, gpr);
    return after ? Value(*after - static_cast<uint64_t>(int64_t{instruction.stack_delta}))
                 : std::nullopt;
  }
  if (instruction.destination != gpr || instruction.op == Op::kOther) return std::nullopt;
  const Value after = Before(writer + 1, gpr);
  return after ? InverseValue(instruction, *after, InputsOf(writer, false)) : std::nullopt;
}

// `gpr` is unchanged over [first, last): a copy made there of the whole register tells its value.
Value Backslice::ThroughCopy(size_t first, size_t last, Gpr gpr) {
  for (size_t i = first; i < last; ++i) {
    const Instruction& instruction = run_[i];
    if (instruction.op != Op::kMove || instruction.source != gpr ||
        instruction.destination == gpr || instruction.width_bytes != 8) {
      continue;
    }
    if (const Value copy = Before(i + 1, instruction.destination)) return copy;
  }
  return std::nullopt;
}

Value Backslice::ThroughForward(size_t writer, Gpr gpr) {
  const Instruction& instruction = run_[writer];
  if (gpr == kRsp && instruction.stack_delta != 0) {
    const Value before = Before(writer, gpr);
    return before ? Value(*before + static_cast<uint64_t>(int64_t{instruction.stack_delta}))
                  : std::nullopt;
  }
  if (instruction.destination != gpr || instruction.op == Op::kOther) return std::nullopt;
  return ForwardValue(instruction, InputsOf(writer, true));
}

// A question that is being answered is not asked again: forward from a writer asks for the value
// before it, and backward through it for the value after it.
Value Backslice::Before(size_t position, Gpr gpr) {
  const auto bit = static_cast<uint16_t>(1u << gpr);
  if (steps_-- <= 0 || (asked_[position] & bit) != 0) return std::nullopt;
  asked_[position] |= bit;
  const Value value = Search(position, gpr);
  asked_[position] &= static_cast<uint16_t>(~bit);
  return value;
}

Value Backslice::Search(size_t position, Gpr gpr) {
  size_t next_writer = position;
  while (next_writer < kMaxRun && !run_[next_writer].Writes(gpr)) ++next_writer;
  if (next_writer == kMaxRun) return after_[gpr];
  if (const Value value = ThroughInverse(next_writer, gpr)) return value;
  size_t last_writer_end = position;  // one past the last writer before `position`
  while (last_writer_end > begin_ && !run_[last_writer_end - 1].Writes(gpr)) --last_writer_end;
  if (const Value value = ThroughCopy(last_writer_end, next_writer, gpr)) return value;
  if (last_writer_end == begin_) return std::nullopt;
  return ThroughForward(last_writer_end - 1, gpr);
}

}  // namespace memagent::decode
