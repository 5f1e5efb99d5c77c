#include "agent/decode/access_resolver.h"

#include <array>

#include "agent/decode/x86_backslice.h"
#include "agent/decode/x86_emulator.h"
#include "agent/decode/x86_semantics.h"

namespace memagent::decode {

struct AccessResolver::State {
  uint64_t ip;
  bool has_registers;
  std::array<uint64_t, kGprCount> gprs;
  Flags flags;
  uint64_t fs_base;
};

namespace {

constexpr uint8_t kSlotBytes = 8;  // a return address

Unresolved ReasonOf(FunctionTable::Miss miss) {
  switch (miss) {
    case FunctionTable::Miss::kNoFunction:
      return Unresolved::kNoFunction;
    case FunctionTable::Miss::kUnreadableCode:
      return Unresolved::kUnreadableCode;
    case FunctionTable::Miss::kNone:
      break;
  }
  return Unresolved::kNone;
}

AccessResolver::Result Unknown(uint64_t ip, Unresolved why) {
  AccessResolver::Result result;
  result.access.evidence = Evidence::kPcOnly;
  result.access.ip = ip;
  result.why = why;
  return result;
}

Access AccessOf(const Instruction& instruction) {
  Access access;
  access.ip = instruction.pc;
  access.size_bytes = instruction.size_bytes;
  access.is_load = instruction.is_load;
  access.is_store = instruction.is_store;
  return access;
}

Access WithAddress(Access access, Evidence evidence, uint64_t address) {
  access.evidence = evidence;
  access.address = address;
  return access;
}

// The callee's return, whose own address is not known: the call's stands for it.
Access ReturnAfter(const Instruction& call, uint64_t rsp) {
  Access access;
  access.ip = call.pc;
  access.size_bytes = kSlotBytes;
  access.is_load = true;
  return WithAddress(access, Evidence::kExact, rsp - kSlotBytes);
}

bool IsUnmodified(const Instruction& access) {
  if (access.address.after) return true;
  return !access.Writes(access.address.base) && !access.Writes(access.address.index);
}

Value Get(const std::array<uint64_t, kGprCount>& gprs, Gpr gpr) {
  return gpr == kNoGpr ? Value() : Value(gprs[gpr]);
}

// The simple operations take a cycle; what they wait for shows before them.
bool RanQuickly(const Predecessors& found) {
  return found.has_fall_through && found.jump_count == 0 &&
         found.fall_through.flow == Flow::kNext && found.fall_through.op != Op::kOther;
}

// What is left of a lost address: the part that names the object.
uint64_t RemainingBase(const Instruction& access, const std::array<uint64_t, kGprCount>& gprs) {
  const AddressExpression& address = access.address;
  if (address.segment != Segment::kNone) return 0;
  if (address.base == kNoGpr) return static_cast<uint64_t>(address.displacement);
  return access.Writes(address.base) ? 0 : gprs[address.base];
}

}  // namespace

AccessResolver::AccessResolver(CodeReader& code)
    : instructions_(code, decoder_), functions_(code, decoder_) {}

void AccessResolver::Flush() {
  instructions_.Flush();
  functions_.Flush();
  predecessors_.Flush();
  cut_accesses_.Flush();
}

// Misses are not remembered: code may appear there later.
const Predecessors* AccessResolver::Find(uint64_t ip) {
  auto& slot = predecessors_.SlotOf(ip);
  if (slot.key == ip && ip != 0) return &slot.value;
  const FunctionTable::Found function = functions_.Around(ip);
  if (function.layout == nullptr) {
    uncached_.why = ReasonOf(function.miss);
    return &uncached_;
  }
  slot.value = FindPredecessors(ip, *function.layout, instructions_);
  slot.key = ip;
  return &slot.value;
}

AccessResolver::Result AccessResolver::Resolve(const RawSample& sample, uint64_t fs_base) {
  if (!decoder_.usable()) return Unknown(sample.ip, Unresolved::kNoDecoder);
  const Predecessors* found = Find(sample.ip);
  if (found->why != Unresolved::kNone) return Unknown(sample.ip, found->why);
  State state{sample.ip, sample.has_registers, GprsOf(sample.registers), {}, fs_base};
  if (sample.has_registers) {
    state.flags = {sample.registers[static_cast<size_t>(Register::kFlags)], ~uint64_t{0}};
  }
  Result result;
  if (cuts_accesses_ && TryCutAccess(state, RanQuickly(*found), result)) return result;
  const uint64_t rcx = sample.has_registers ? state.gprs[kRcx] : 1;
  return ResolveChoice(*found, ChoosePredecessor(*found, state.flags, rcx), state);
}

bool AccessResolver::TryCutAccess(const State& state, bool after_quick, Result& out) {
  const Instruction* at_ip = instructions_.At(state.ip);
  if (at_ip == nullptr || !cut_accesses_.Note(*at_ip, after_quick)) return false;
  out.access = AtIp(*at_ip, state);
  if (out.access.evidence == Evidence::kExact) out.access.evidence = Evidence::kApproximate;
  out.why = Unresolved::kAmbiguousPredecessor;
  return true;
}

// The instruction has not finished: its registers are those it began with, or of its next element.
Access AccessResolver::AtIp(const Instruction& access, const State& state) {
  const AddressExpression& address = access.address;
  const Value value = ComputeAddress(address, Get(state.gprs, address.base),
                                     Get(state.gprs, address.index), state.fs_base);
  if (!value || !state.has_registers) return WithAddress(AccessOf(access), Evidence::kPcOnly, 0);
  return WithAddress(AccessOf(access), Evidence::kExact, *value);
}

AccessResolver::Result AccessResolver::ResolveChoice(const Predecessors& found, Choice choice,
                                                     const State& state) {
  Result result;
  result.access.ip = found.has_fall_through ? found.fall_through.pc : state.ip;
  switch (choice.which) {
    case Predecessor::kUnknown:
      return Unknown(state.ip, Unresolved::kAmbiguousPredecessor);
    case Predecessor::kNoAccess:
      return result;
    case Predecessor::kAtIp: {
      const Instruction* access = instructions_.At(state.ip);
      if (access == nullptr) return Unknown(state.ip, Unresolved::kUnreadableCode);
      result.access = AtIp(*access, state);
      return result;
    }
    case Predecessor::kReturn:
      if (!state.has_registers) return Unknown(state.ip, Unresolved::kAmbiguousPredecessor);
      result.access = ReturnAfter(found.fall_through, state.gprs[kRsp]);
      break;
    case Predecessor::kFallThrough:
      result.access = ResolveAddress(found.fall_through, found.has_indirect_jump, state);
      break;
    case Predecessor::kJumpCompare: {
      const Instruction* compare = instructions_.At(found.jump_compare_pc);
      if (compare == nullptr) return Unknown(state.ip, Unresolved::kUnreadableCode);
      result.access = ResolveAddress(Instruction(*compare), found.has_indirect_jump, state);
      break;
    }
  }
  if (choice.is_lowered) {
    result.why = Unresolved::kAmbiguousPredecessor;
    if (result.access.evidence == Evidence::kExact) result.access.evidence = Evidence::kApproximate;
  }
  return result;
}

bool AccessResolver::TryBackslice(const Instruction& access, bool include_earlier,
                                  const State& state, Access& out) {
  if (access.address.opaque) return false;
  const FunctionTable::Found function = functions_.Around(access.pc);
  if (function.layout == nullptr) return false;
  Backslice slice(access, state.gprs, include_earlier, *function.layout, instructions_);
  const auto before = [&](Gpr gpr) { return gpr == kNoGpr ? Value() : slice.BeforeAccess(gpr); };
  const Value address = ComputeAddress(access.address, before(access.address.base),
                                       before(access.address.index), state.fs_base);
  if (!address) return false;
  out.address = *address;
  return true;
}

Access AccessResolver::ResolveAddress(const Instruction& access, bool has_indirect_jump,
                                      const State& state) {
  const Access plain = AccessOf(access);
  if (!state.has_registers) return WithAddress(plain, Evidence::kPcOnly, 0);
  const AddressExpression& address = access.address;
  if (IsUnmodified(access)) {
    const Value value = ComputeAddress(address, Get(state.gprs, address.base),
                                       Get(state.gprs, address.index), state.fs_base);
    if (value) return WithAddress(plain, Evidence::kExact, *value);
    return WithAddress(plain, Evidence::kPcOnly, RemainingBase(access, state.gprs));
  }
  Access recovered;
  if (TryBackslice(access, false, state, recovered)) {
    return WithAddress(plain, Evidence::kExact, recovered.address);
  }
  if (TryBackslice(access, true, state, recovered)) {
    return WithAddress(plain, has_indirect_jump ? Evidence::kApproximate : Evidence::kExact,
                       recovered.address);
  }
  const Value next = NextInstanceAddress(access.pc, state.ip, state.gprs, state.flags,
                                         state.fs_base, instructions_);
  if (next) return WithAddress(plain, Evidence::kApproximate, *next);
  return WithAddress(plain, Evidence::kPcOnly, RemainingBase(access, state.gprs));
}

}  // namespace memagent::decode
