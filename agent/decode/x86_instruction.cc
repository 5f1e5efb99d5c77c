#include "agent/decode/x86_instruction.h"

#include <algorithm>

namespace memagent::decode {
namespace {

struct Decoded {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

  std::span<const ZydisDecodedOperand> all() const {
    return std::span(operands).first(instruction.operand_count);
  }
  std::span<const ZydisDecodedOperand> visible() const {
    return std::span(operands).first(instruction.operand_count_visible);
  }
};

struct RegisterPart {
  Gpr gpr = kNoGpr;
  uint8_t width_bytes = 0;
  bool is_high_byte = false;
};

// A register of Zydis as part of a general register; gpr is kNoGpr for every other class.
RegisterPart PartOf(ZydisRegister name) {
  const auto in = [&](ZydisRegister first, ZydisRegister last) {
    return name >= first && name <= last;
  };
  const auto number = [&](ZydisRegister first, int add = 0) {
    return static_cast<Gpr>(name - first + add);
  };
  if (in(ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15)) return {number(ZYDIS_REGISTER_RAX), 8, false};
  if (in(ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D)) return {number(ZYDIS_REGISTER_EAX), 4, false};
  if (in(ZYDIS_REGISTER_AX, ZYDIS_REGISTER_R15W)) return {number(ZYDIS_REGISTER_AX), 2, false};
  if (in(ZYDIS_REGISTER_AL, ZYDIS_REGISTER_BL)) return {number(ZYDIS_REGISTER_AL), 1, false};
  if (in(ZYDIS_REGISTER_AH, ZYDIS_REGISTER_BH)) return {number(ZYDIS_REGISTER_AH), 1, true};
  if (in(ZYDIS_REGISTER_SPL, ZYDIS_REGISTER_R15B)) {
    return {number(ZYDIS_REGISTER_SPL, kRsp), 1, false};
  }
  return {};
}

bool Reads(const ZydisDecodedOperand& operand) {
  return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
}
bool WritesTo(const ZydisDecodedOperand& operand) {
  return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}
bool IsMemory(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type != ZYDIS_MEMOP_TYPE_AGEN;
}

bool IsPush(ZydisMnemonic m) {
  return m == ZYDIS_MNEMONIC_PUSH || m == ZYDIS_MNEMONIC_PUSHF || m == ZYDIS_MNEMONIC_PUSHFQ;
}
bool IsPop(ZydisMnemonic m) {
  return m == ZYDIS_MNEMONIC_POP || m == ZYDIS_MNEMONIC_POPF || m == ZYDIS_MNEMONIC_POPFQ;
}
bool IsBitTest(ZydisMnemonic m) {
  return m == ZYDIS_MNEMONIC_BT || m == ZYDIS_MNEMONIC_BTS || m == ZYDIS_MNEMONIC_BTR ||
         m == ZYDIS_MNEMONIC_BTC;
}

uint16_t WrittenRegisters(const Decoded& decoded) {
  uint16_t mask = 0;
  for (const ZydisDecodedOperand& operand : decoded.all()) {
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER || !WritesTo(operand)) continue;
    const Gpr gpr = PartOf(operand.reg.value).gpr;
    if (gpr != kNoGpr) mask = static_cast<uint16_t>(mask | (1u << gpr));
  }
  return mask;
}

// A register of an address: 32 or 64 bits wide, or something no general register holds alone.
Gpr AddressRegister(ZydisRegister name, bool& opaque) {
  if (name == ZYDIS_REGISTER_NONE) return kNoGpr;
  const RegisterPart part = PartOf(name);
  if (part.width_bytes >= 4) return part.gpr;
  opaque = true;
  return kNoGpr;
}

AddressExpression ExpressionOf(const ZydisDecodedOperand& operand, const Decoded& decoded,
                               uint64_t pc) {
  const auto& memory = operand.mem;
  AddressExpression result;
  result.displacement = memory.disp.has_displacement ? memory.disp.value : 0;
  result.address_bytes = static_cast<uint8_t>(decoded.instruction.address_width / 8);
  if (memory.segment == ZYDIS_REGISTER_FS) result.segment = Segment::kFs;
  if (memory.segment == ZYDIS_REGISTER_GS) result.segment = Segment::kGs;
  if (memory.base == ZYDIS_REGISTER_RIP || memory.base == ZYDIS_REGISTER_EIP) {
    result.displacement += static_cast<int64_t>(pc + decoded.instruction.length);
  } else {
    result.base = AddressRegister(memory.base, result.opaque);
  }
  result.index = AddressRegister(memory.index, result.opaque);
  result.scale = memory.scale;
  if (memory.type != ZYDIS_MEMOP_TYPE_MEM && memory.type != ZYDIS_MEMOP_TYPE_AGEN) {
    result.opaque = true;
  }
  return result;
}

// The operand that stands for the instruction: a visible one before the implied stack slot; of the
// two of movs the one that is read, because a load blocks retirement and a store does not.
const ZydisDecodedOperand* ChooseOperand(const Decoded& decoded) {
  for (const ZydisDecodedOperand& operand : decoded.visible()) {
    if (IsMemory(operand)) return &operand;
  }
  const ZydisDecodedOperand* chosen = nullptr;
  for (const ZydisDecodedOperand& operand : decoded.all()) {
    if (!IsMemory(operand)) continue;
    if (chosen == nullptr || (Reads(operand) && !Reads(*chosen))) chosen = &operand;
  }
  return chosen;
}

bool IsNop(const Decoded& decoded) {
  const auto category = decoded.instruction.meta.category;
  return category == ZYDIS_CATEGORY_NOP || category == ZYDIS_CATEGORY_WIDENOP;
}

// Slots of the stack: as addresses over the stack pointer after the instruction.
void DescribeStackSlot(const Decoded& decoded, bool is_visible, Instruction& out) {
  const ZydisMnemonic m = decoded.instruction.mnemonic;
  const int slot = decoded.instruction.operand_width / 8;
  const bool pops_into_rsp = IsPop(m) && !is_visible && decoded.instruction.operand_count > 0 &&
                             decoded.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                             PartOf(decoded.operands[0].reg.value).gpr == kRsp;
  if (pops_into_rsp) return;
  if (IsPush(m)) out.stack_delta = static_cast<int16_t>(-slot);
  if (IsPop(m)) out.stack_delta = static_cast<int16_t>(slot);
  if (is_visible) {
    // SDM, POP: an rsp-based destination is addressed with the incremented stack pointer.
    out.address.after = IsPop(m) && out.address.base == kRsp;
    return;
  }
  if (!IsPush(m) && !IsPop(m) && m != ZYDIS_MNEMONIC_LEAVE) return;
  out.address = {};
  out.address.base = kRsp;
  out.address.after = true;
  out.address.displacement = IsPush(m) ? 0 : -slot;
}

void DescribeMemory(const Decoded& decoded, Instruction& out) {
  const ZydisDecodedOperand* operand = ChooseOperand(decoded);
  if (operand == nullptr || out.is_nop) return;
  const ZydisMnemonic m = decoded.instruction.mnemonic;
  out.accesses_memory = true;
  out.address = ExpressionOf(*operand, decoded, out.pc);
  out.size_bytes = static_cast<uint8_t>(std::min(operand->size / 8, 255));
  out.is_store = WritesTo(*operand);
  // Prefetches and cache flushes have neither action: they bring or look up a line like a load.
  out.is_load = Reads(*operand) || !out.is_store;
  if (IsBitTest(m) && decoded.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
    out.address.opaque = true;  // bit offsets reach beyond the operand
  }
  const bool is_visible = operand->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN;
  DescribeStackSlot(decoded, is_visible, out);
}

uint8_t ConditionOf(const ZydisDecodedInstruction& instruction) {
  const uint8_t high = instruction.opcode & 0xf0;
  const bool is_short = instruction.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && high == 0x70;
  const bool is_near = instruction.opcode_map == ZYDIS_OPCODE_MAP_0F && high == 0x80;
  return is_short || is_near ? instruction.opcode & 0x0f : kUndecidable;
}

Flow FlowOf(const ZydisDecodedInstruction& instruction) {
  const bool is_relative = instruction.raw.imm[0].is_relative;
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return Flow::kCall;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return is_relative ? Flow::kJump : Flow::kIndirectJump;
    case ZYDIS_CATEGORY_COND_BR:
      return Flow::kBranch;
    case ZYDIS_CATEGORY_RET:
      return Flow::kReturn;
    case ZYDIS_CATEGORY_SYSCALL:
      return Flow::kSystemCall;
    case ZYDIS_CATEGORY_INTERRUPT:
      return instruction.mnemonic == ZYDIS_MNEMONIC_INT ? Flow::kSystemCall : Flow::kStop;
    default:
      break;
  }
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
      return Flow::kStop;
    default:
      return Flow::kNext;
  }
}

uint64_t TargetOf(const ZydisDecodedInstruction& instruction, uint64_t pc) {
  if (!instruction.raw.imm[0].is_relative) return 0;
  return pc + instruction.length + static_cast<uint64_t>(instruction.raw.imm[0].value.s);
}

struct OpName {
  ZydisMnemonic mnemonic;
  Op op;
};
constexpr OpName kOps[] = {
    {ZYDIS_MNEMONIC_MOV, Op::kMove},
    {ZYDIS_MNEMONIC_MOVZX, Op::kZeroExtend},
    {ZYDIS_MNEMONIC_MOVSX, Op::kSignExtend},
    {ZYDIS_MNEMONIC_MOVSXD, Op::kSignExtend},
    {ZYDIS_MNEMONIC_LEA, Op::kLea},
    {ZYDIS_MNEMONIC_ADD, Op::kAdd},
    {ZYDIS_MNEMONIC_SUB, Op::kSub},
    {ZYDIS_MNEMONIC_AND, Op::kAnd},
    {ZYDIS_MNEMONIC_OR, Op::kOr},
    {ZYDIS_MNEMONIC_XOR, Op::kXor},
    {ZYDIS_MNEMONIC_INC, Op::kInc},
    {ZYDIS_MNEMONIC_DEC, Op::kDec},
    {ZYDIS_MNEMONIC_NEG, Op::kNeg},
    {ZYDIS_MNEMONIC_NOT, Op::kNot},
    {ZYDIS_MNEMONIC_SHL, Op::kShl},
    {ZYDIS_MNEMONIC_SHR, Op::kShr},
    {ZYDIS_MNEMONIC_SAR, Op::kSar},
    {ZYDIS_MNEMONIC_CMP, Op::kCompare},
    {ZYDIS_MNEMONIC_TEST, Op::kTest},
};

Op OpOf(ZydisMnemonic mnemonic) {
  for (const OpName& name : kOps) {
    if (name.mnemonic == mnemonic) return name.op;
  }
  return Op::kOther;
}

bool IsShift(Op op) { return op == Op::kShl || op == Op::kShr || op == Op::kSar; }

// The second operand as register or immediate; false when it is neither.
bool DescribeSource(const ZydisDecodedOperand& operand, Instruction& out) {
  if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    out.immediate = operand.imm.value.s;
    return true;
  }
  if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
  const RegisterPart part = PartOf(operand.reg.value);
  out.source = part.gpr;
  out.source_width_bytes = part.width_bytes;
  return part.gpr != kNoGpr && !part.is_high_byte;
}

// Fills in what the operation computes; leaves kOther when an operand is not a whole low part of a
// general register, so that nothing is ever computed from memory.
void DescribeOperation(const Decoded& decoded, Instruction& out) {
  if (decoded.instruction.mnemonic == ZYDIS_MNEMONIC_CDQE) {
    out.op = Op::kSignExtend;
    out.destination = out.source = kRax;
    out.width_bytes = 8;
    out.source_width_bytes = 4;
    return;
  }
  const Op op = OpOf(decoded.instruction.mnemonic);
  if (op == Op::kOther || decoded.instruction.operand_count == 0) return;
  const ZydisDecodedOperand& first = decoded.operands[0];
  if (first.type != ZYDIS_OPERAND_TYPE_REGISTER) return;
  const RegisterPart destination = PartOf(first.reg.value);
  if (destination.gpr == kNoGpr || destination.is_high_byte) return;
  const bool is_unary = op == Op::kInc || op == Op::kDec || op == Op::kNeg || op == Op::kNot;
  if (op == Op::kLea) {
    out.address = ExpressionOf(decoded.operands[1], decoded, out.pc);
    // lea gives the offset within the segment.
    out.address.segment = Segment::kNone;
  } else if (!is_unary && !DescribeSource(decoded.operands[1], out)) {
    return;
  }
  if (IsShift(op) && out.source != kNoGpr) return;  // shifts by cl may leave the flags alone
  out.destination = destination.gpr;
  out.width_bytes = destination.width_bytes;
  out.op = op;
}

bool WritesFlags(const ZydisDecodedInstruction& instruction) {
  const ZydisAccessedFlags* flags = instruction.cpu_flags;
  if (flags == nullptr) return false;
  return (flags->modified | flags->set_0 | flags->set_1 | flags->undefined) != 0;
}

constexpr uint64_t kRepeatPrefixes =
    ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;

}  // namespace

X86Decoder::X86Decoder() : zydis_(os::Zydis()) {
  if (zydis_ == nullptr) return;
  const auto init = [this](ZydisDecoder& decoder) {
    return ZYAN_SUCCESS(
        zydis_->decoder_init(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
  };
  const bool ready =
      init(decoder_) && init(outline_decoder_) &&
      ZYAN_SUCCESS(zydis_->enable_mode(&outline_decoder_, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE));
  if (!ready) zydis_ = nullptr;
}

std::optional<Instruction> X86Decoder::Decode(uint64_t pc, std::span<const std::byte> code) const {
  if (!usable()) return std::nullopt;
  Decoded decoded;
  if (!ZYAN_SUCCESS(zydis_->decode_full(&decoder_, code.data(), code.size(), &decoded.instruction,
                                        decoded.operands))) {
    return std::nullopt;
  }
  Instruction out;
  out.pc = pc;
  out.length = decoded.instruction.length;
  out.flow = FlowOf(decoded.instruction);
  out.target = TargetOf(decoded.instruction, pc);
  if (out.flow == Flow::kBranch) out.condition = ConditionOf(decoded.instruction);
  out.written = WrittenRegisters(decoded);
  out.writes_flags = WritesFlags(decoded.instruction);
  out.is_string = decoded.instruction.meta.category == ZYDIS_CATEGORY_STRINGOP;
  out.is_repeated = out.is_string && (decoded.instruction.attributes & kRepeatPrefixes) != 0;
  out.is_compare = decoded.instruction.mnemonic == ZYDIS_MNEMONIC_CMP ||
                   decoded.instruction.mnemonic == ZYDIS_MNEMONIC_TEST;
  out.is_nop = IsNop(decoded);
  DescribeMemory(decoded, out);
  DescribeOperation(decoded, out);
  return out;
}

std::optional<InstructionOutline> X86Decoder::Outline(uint64_t pc,
                                                      std::span<const std::byte> code) const {
  if (!usable()) return std::nullopt;
  ZydisDecodedInstruction instruction;
  if (!ZYAN_SUCCESS(zydis_->decode_instruction(&outline_decoder_, nullptr, code.data(), code.size(),
                                               &instruction))) {
    return std::nullopt;
  }
  return InstructionOutline{instruction.length, FlowOf(instruction), TargetOf(instruction, pc)};
}

}  // namespace memagent::decode
