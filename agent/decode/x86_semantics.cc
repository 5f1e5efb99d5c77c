#include "agent/decode/x86_semantics.h"

#include <bit>

namespace memagent::decode {
namespace {

// Bits of RFLAGS (SDM volume 1, 3.4.3).
constexpr uint64_t kCarry = 1u << 0, kParity = 1u << 2, kZero = 1u << 6, kSign = 1u << 7,
                   kOverflow = 1u << 11;
constexpr uint64_t kTestable = kCarry | kParity | kZero | kSign | kOverflow;

uint64_t WidthMask(uint8_t width_bytes) {
  return width_bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * width_bytes)) - 1;
}

uint64_t SignBit(uint8_t width_bytes) { return uint64_t{1} << (8 * width_bytes - 1); }

uint64_t SignExtend(uint64_t value, uint8_t width_bytes) {
  const uint64_t sign = SignBit(width_bytes);
  return ((value & WidthMask(width_bytes)) ^ sign) - sign;
}

// Writing 32 bits clears the upper half; writing 8 or 16 keeps what was there.
Value MergeInto(Value before, uint64_t result, uint8_t width_bytes) {
  const uint64_t mask = WidthMask(width_bytes);
  if (width_bytes >= 4) return result & mask;
  if (!before) return std::nullopt;
  return (*before & ~mask) | (result & mask);
}

// The second operand: a register's value or the immediate.
Value SecondOperand(const Instruction& instruction, const Inputs& inputs) {
  if (instruction.source != kNoGpr) return inputs.source;
  return static_cast<uint64_t>(instruction.immediate);
}

// xor r,r and sub r,r give zero whatever r was.
bool IsZeroing(const Instruction& instruction) {
  return (instruction.op == Op::kXor || instruction.op == Op::kSub) &&
         instruction.source == instruction.destination;
}

uint8_t ShiftCount(const Instruction& instruction) {
  return static_cast<uint8_t>(instruction.immediate & (instruction.width_bytes == 8 ? 63 : 31));
}

uint64_t Shifted(const Instruction& instruction, uint64_t value) {
  const uint8_t count = ShiftCount(instruction);
  const uint64_t masked = value & WidthMask(instruction.width_bytes);
  if (instruction.op == Op::kShl) return masked << count;
  if (instruction.op == Op::kShr) return masked >> count;
  const auto extended = static_cast<int64_t>(SignExtend(value, instruction.width_bytes));
  return static_cast<uint64_t>(extended >> count);
}

Value UnaryResult(const Instruction& instruction, uint64_t a) {
  switch (instruction.op) {
    case Op::kInc:
      return a + 1;
    case Op::kDec:
      return a - 1;
    case Op::kNeg:
      return 0 - a;
    case Op::kNot:
      return ~a;
    case Op::kShl:
    case Op::kShr:
    case Op::kSar:
      return Shifted(instruction, a);
    default:
      return std::nullopt;
  }
}

Value BinaryResult(Op op, uint64_t a, uint64_t b) {
  switch (op) {
    case Op::kAdd:
      return a + b;
    case Op::kSub:
    case Op::kCompare:
      return a - b;
    case Op::kAnd:
    case Op::kTest:
      return a & b;
    case Op::kOr:
      return a | b;
    case Op::kXor:
      return a ^ b;
    default:
      return std::nullopt;
  }
}

// The result before it is merged into the destination; also of kCompare and kTest.
Value RawResult(const Instruction& instruction, const Inputs& inputs) {
  if (IsZeroing(instruction)) return 0;
  const Value b = SecondOperand(instruction, inputs);
  switch (instruction.op) {
    case Op::kOther:
      return std::nullopt;
    case Op::kMove:
      return b;
    case Op::kZeroExtend:
      return b ? Value(*b & WidthMask(instruction.source_width_bytes)) : std::nullopt;
    case Op::kSignExtend:
      return b ? Value(SignExtend(*b, instruction.source_width_bytes)) : std::nullopt;
    case Op::kLea:
      return ComputeAddress(instruction.address, inputs.base, inputs.index, 0);
    default:
      break;
  }
  if (!inputs.destination) return std::nullopt;
  if (const Value unary = UnaryResult(instruction, *inputs.destination)) return unary;
  return b ? BinaryResult(instruction.op, *inputs.destination, *b) : std::nullopt;
}

Flags ResultFlags(uint64_t result, uint8_t width_bytes) {
  const uint64_t masked = result & WidthMask(width_bytes);
  Flags flags{0, kZero | kSign | kParity};
  if (masked == 0) flags.value |= kZero;
  if ((masked & SignBit(width_bytes)) != 0) flags.value |= kSign;
  if (std::popcount(masked & 0xff) % 2 == 0) flags.value |= kParity;
  return flags;
}

void SetFlag(Flags& flags, uint64_t bit, bool on) {
  flags.known |= bit;
  if (on) flags.value |= bit;
}

void AddFlags(Flags& flags, uint64_t a, uint64_t b, uint8_t width) {
  const uint64_t mask = WidthMask(width);
  const uint64_t result = (a + b) & mask;
  SetFlag(flags, kCarry, result < (a & mask));
  SetFlag(flags, kOverflow, ((a ^ result) & (b ^ result) & SignBit(width)) != 0);
}

void SubtractFlags(Flags& flags, uint64_t a, uint64_t b, uint8_t width) {
  const uint64_t mask = WidthMask(width);
  SetFlag(flags, kCarry, (a & mask) < (b & mask));
  SetFlag(flags, kOverflow, ((a ^ b) & (a ^ (a - b)) & SignBit(width)) != 0);
}

// inc and dec leave the carry alone.
void KeepCarry(Flags& flags, Flags before) {
  flags.known = (flags.known & ~kCarry) | (before.known & kCarry);
  flags.value = (flags.value & ~kCarry) | (before.value & kCarry);
}

void CarryAndOverflow(const Instruction& instruction, uint64_t a, uint64_t b, Flags before,
                      Flags& flags) {
  const uint8_t width = instruction.width_bytes;
  switch (instruction.op) {
    case Op::kAdd:
      return AddFlags(flags, a, b, width);
    case Op::kSub:
    case Op::kCompare:
      return SubtractFlags(flags, a, b, width);
    case Op::kInc:
      AddFlags(flags, a, 1, width);
      return KeepCarry(flags, before);
    case Op::kDec:
      SubtractFlags(flags, a, 1, width);
      return KeepCarry(flags, before);
    case Op::kNeg:
      return SubtractFlags(flags, 0, a, width);
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kTest:
      flags.known |= kCarry | kOverflow;  // both are cleared
      return;
    default:  // shifts: carry is not worth computing, overflow is mostly undefined
      return;
  }
}

// Base and index are both the same register, or the other part is unknown: not invertible.
Value InverseLea(const Instruction& instruction, uint64_t after, const Inputs& inputs) {
  const AddressExpression& address = instruction.address;
  if (address.opaque || address.address_bytes != 8 || address.base == address.index) {
    return std::nullopt;
  }
  const uint64_t rest = after - static_cast<uint64_t>(address.displacement);
  if (address.base == instruction.destination) {
    if (address.index == kNoGpr) return rest;
    return inputs.index ? Value(rest - *inputs.index * address.scale) : std::nullopt;
  }
  if (address.index == instruction.destination && address.scale == 1 && inputs.base) {
    return rest - *inputs.base;
  }
  return std::nullopt;
}

}  // namespace

std::array<uint64_t, kGprCount> GprsOf(const Registers& registers) {
  constexpr Register kOrder[kGprCount] = {
      Register::kAx,  Register::kCx,  Register::kDx,  Register::kBx, Register::kSp,  Register::kBp,
      Register::kSi,  Register::kDi,  Register::kR8,  Register::kR9, Register::kR10, Register::kR11,
      Register::kR12, Register::kR13, Register::kR14, Register::kR15};
  std::array<uint64_t, kGprCount> result = {};
  for (size_t i = 0; i < kGprCount; ++i) result[i] = registers[static_cast<size_t>(kOrder[i])];
  return result;
}

Value ComputeAddress(const AddressExpression& address, Value base, Value index, uint64_t fs_base) {
  if (address.opaque || address.segment == Segment::kGs) return std::nullopt;
  if (address.segment == Segment::kFs && fs_base == 0) return std::nullopt;
  if (address.base != kNoGpr && !base) return std::nullopt;
  if (address.index != kNoGpr && !index) return std::nullopt;
  auto result = static_cast<uint64_t>(address.displacement);
  if (address.base != kNoGpr) result += *base;
  if (address.index != kNoGpr) result += *index * address.scale;
  result &= WidthMask(address.address_bytes);
  return address.segment == Segment::kFs ? result + fs_base : result;
}

Value ForwardValue(const Instruction& instruction, const Inputs& inputs) {
  if (instruction.op == Op::kCompare || instruction.op == Op::kTest) return inputs.destination;
  const Value result = RawResult(instruction, inputs);
  if (!result) return std::nullopt;
  return MergeInto(inputs.destination, *result, instruction.width_bytes);
}

Value InverseValue(const Instruction& instruction, uint64_t after, const Inputs& inputs) {
  if (instruction.width_bytes != 8) return std::nullopt;
  switch (instruction.op) {
    case Op::kInc:
      return after - 1;
    case Op::kDec:
      return after + 1;
    case Op::kNeg:
      return 0 - after;
    case Op::kNot:
      return ~after;
    case Op::kLea:
      return InverseLea(instruction, after, inputs);
    default:
      break;
  }
  if (instruction.source == instruction.destination) return std::nullopt;
  const Value b = SecondOperand(instruction, inputs);
  if (!b) return std::nullopt;
  if (instruction.op == Op::kAdd) return after - *b;
  if (instruction.op == Op::kSub) return after + *b;
  if (instruction.op == Op::kXor) return after ^ *b;
  return std::nullopt;
}

Flags FlagsAfter(const Instruction& instruction, const Inputs& inputs, Flags before) {
  if (!instruction.writes_flags) return before;
  const bool is_shift =
      instruction.op == Op::kShl || instruction.op == Op::kShr || instruction.op == Op::kSar;
  if (is_shift && ShiftCount(instruction) == 0) return before;
  const Value result = RawResult(instruction, inputs);
  if (!result) return {};
  Flags flags = ResultFlags(*result, instruction.width_bytes);
  const uint64_t b = SecondOperand(instruction, inputs).value_or(0);
  CarryAndOverflow(instruction, inputs.destination.value_or(b), b, before, flags);
  return flags;
}

std::optional<bool> IsTaken(uint8_t condition, Flags flags) {
  if (condition == kAlways) return true;
  if (condition >= kUndecidable) return std::nullopt;
  constexpr uint64_t kTested[8] = {kOverflow,
                                   kCarry,
                                   kZero,
                                   kCarry | kZero,
                                   kSign,
                                   kParity,
                                   kSign | kOverflow,
                                   kZero | kSign | kOverflow};
  const uint64_t tested = kTested[condition >> 1] & kTestable;
  if ((flags.known & tested) != tested) return std::nullopt;
  const bool less = ((flags.value & kSign) != 0) != ((flags.value & kOverflow) != 0);
  const bool zero = (flags.value & kZero) != 0;
  bool holds = (flags.value & tested) != 0;
  if (condition >> 1 == 6) holds = less;
  if (condition >> 1 == 7) holds = less || zero;
  return holds != ((condition & 1) != 0);
}

}  // namespace memagent::decode
