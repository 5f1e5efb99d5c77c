#include "agent/decode/x86_emulator.h"

#include <optional>

namespace memagent::decode {
namespace {

class RegisterState {
 public:
  RegisterState(const std::array<uint64_t, kGprCount>& gprs, Flags flags)
      : values_(gprs), flags_(flags) {}

  Flags flags() const { return flags_; }
  Value Get(Gpr gpr) const {
    if (gpr == kNoGpr || ((known_ >> gpr) & 1) == 0) return std::nullopt;
    return values_[gpr];
  }

  void Apply(const Instruction& instruction) {
    const Inputs inputs = {Get(instruction.destination), Get(instruction.source),
                           Get(instruction.address.base), Get(instruction.address.index)};
    const Value stack = Get(kRsp);
    const Value result =
        instruction.op == Op::kOther ? std::nullopt : ForwardValue(instruction, inputs);
    flags_ = FlagsAfter(instruction, inputs, flags_);
    known_ = static_cast<uint16_t>(known_ & ~instruction.written);
    if (instruction.Writes(instruction.destination) && result) {
      Set(instruction.destination, *result);
    }
    if (instruction.stack_delta != 0 && stack) {
      Set(kRsp, *stack + static_cast<uint64_t>(int64_t{instruction.stack_delta}));
    }
  }

 private:
  void Set(Gpr gpr, uint64_t value) {
    values_[gpr] = value;
    known_ = static_cast<uint16_t>(known_ | (1u << gpr));
  }

  std::array<uint64_t, kGprCount> values_;
  uint16_t known_ = 0xffff;
  Flags flags_;
};

// Where control goes after `instruction`; nullopt when the registers do not tell.
std::optional<uint64_t> Successor(const Instruction& instruction, Flags flags) {
  if (instruction.flow == Flow::kNext) return instruction.end();
  if (instruction.flow == Flow::kJump) return instruction.target;
  if (instruction.flow != Flow::kBranch) return std::nullopt;
  const std::optional<bool> taken = IsTaken(instruction.condition, flags);
  if (!taken) return std::nullopt;
  return *taken ? instruction.target : instruction.end();
}

Value AddressIn(const RegisterState& state, const AddressExpression& address, uint64_t fs_base) {
  if (address.after) return std::nullopt;  // stack slots are exact without emulation
  return ComputeAddress(address, state.Get(address.base), state.Get(address.index), fs_base);
}

}  // namespace

Value NextInstanceAddress(uint64_t access_pc, uint64_t ip,
                          const std::array<uint64_t, kGprCount>& gprs, Flags flags,
                          uint64_t fs_base, InstructionCache& instructions) {
  RegisterState state(gprs, flags);
  uint64_t pc = ip;
  for (int i = 0; i < kMaxEmulated; ++i) {
    const Instruction* instruction = instructions.At(pc);
    if (instruction == nullptr) return std::nullopt;
    if (pc == access_pc) return AddressIn(state, instruction->address, fs_base);
    const std::optional<uint64_t> next = Successor(*instruction, state.flags());
    if (!next) return std::nullopt;
    state.Apply(*instruction);
    pc = *next;
  }
  return std::nullopt;
}

}  // namespace memagent::decode
