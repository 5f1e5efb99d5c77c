#include "agent/capture/unwind_cfi.h"

#include "agent/capture/unwind_expression.h"

namespace memagent::capture {
namespace {

// DWARF register numbers (System V ABI x86-64, figure 3.36).
constexpr uint64_t kRbp = 6;
constexpr uint64_t kRsp = 7;
constexpr uint64_t kRip = 16;
// gcc and clang nest remember_state one or two deep; the rows live on the host's stack.
constexpr size_t kMaxRemembered = 4;

enum class Where : uint8_t {
  kSame,
  kUndefined,
  kAtCfa,  // saved at CFA + offset
  kAtRbp,  // saved at rbp + offset
  kOther,
};

struct Column {
  Where where = Where::kSame;
  int32_t offset = 0;
};

// The canonical frame address: an expression of one register; kOther until defined.
struct Row {
  CfiExpression cfa;
  Column rbp;
  Column rip;
};

class Machine {
 public:
  Machine(const CommonInformation& common, uintptr_t start) : common_(common), location_(start) {}

  // Executes until the location passes `ip` or the instructions end. False: malformed.
  bool Run(MemoryView instructions, uintptr_t ip);
  void KeepAsInitial() { initial_ = row_; }
  const Row& row() const { return row_; }

 private:
  bool Step(EhReader& reader);
  bool StepLocation(uint8_t opcode, EhReader& reader);
  bool StepCfa(uint8_t opcode, EhReader& reader);
  bool StepColumn(uint8_t opcode, EhReader& reader);
  bool StepState(uint8_t opcode);
  bool Advance(uint64_t delta);
  void DefineCfa(uint64_t dwarf_register, int64_t offset);
  void MoveCfa(int64_t offset) { DefineCfa(row_.cfa.dwarf_register, offset); }
  void Set(uint64_t column, Where where, int64_t offset = 0);
  void SetExpression(uint64_t column, MemoryView expression);
  void Restore(uint64_t column);
  int64_t Factored(uint64_t value) const {
    return static_cast<int64_t>(value * static_cast<uint64_t>(common_.data_alignment));
  }

  const CommonInformation& common_;
  uintptr_t location_;
  Row row_;
  Row initial_;
  Row remembered_[kMaxRemembered];
  size_t remembered_count_ = 0;
};

bool Machine::Run(MemoryView instructions, uintptr_t ip) {
  EhReader reader(instructions);
  while (!reader.AtEnd() && location_ <= ip) {
    if (!Step(reader) || !reader.ok()) return false;
  }
  return true;
}

bool Machine::Step(EhReader& reader) {
  const uint8_t opcode = reader.Byte();
  const uint8_t operand = opcode & 0x3f;
  switch (opcode >> 6) {
    case 1:  // advance_loc
      return Advance(operand);
    case 2:  // offset
      Set(operand, Where::kAtCfa, Factored(reader.Unsigned()));
      return true;
    case 3:  // restore
      Restore(operand);
      return true;
    default:
      return opcode == 0 || StepLocation(opcode, reader) || StepCfa(opcode, reader) ||
             StepColumn(opcode, reader) || StepState(opcode);
  }
}

bool Machine::StepLocation(uint8_t opcode, EhReader& reader) {
  switch (opcode) {
    case 0x01:  // set_loc
      location_ = reader.Pointer(common_.pointer_encoding, 0);
      return true;
    case 0x02:
      return Advance(reader.Byte());
    case 0x03:
      return Advance(reader.Fixed<uint16_t>());
    case 0x04:
      return Advance(reader.Fixed<uint32_t>());
    default:
      return false;
  }
}

bool Machine::StepCfa(uint8_t opcode, EhReader& reader) {
  switch (opcode) {
    case 0x0c: {  // def_cfa
      const uint64_t base = reader.Unsigned();
      DefineCfa(base, static_cast<int64_t>(reader.Unsigned()));
      return true;
    }
    case 0x12: {  // def_cfa_sf
      const uint64_t base = reader.Unsigned();
      DefineCfa(base, Factored(static_cast<uint64_t>(reader.Signed())));
      return true;
    }
    case 0x0d:  // def_cfa_register
      DefineCfa(reader.Unsigned(), row_.cfa.offset);
      return true;
    case 0x0e:  // def_cfa_offset
      MoveCfa(static_cast<int64_t>(reader.Unsigned()));
      return true;
    case 0x13:  // def_cfa_offset_sf
      MoveCfa(Factored(static_cast<uint64_t>(reader.Signed())));
      return true;
    case 0x0f:  // def_cfa_expression
      row_.cfa = RecogniseExpression(reader.Block(reader.Unsigned()));
      return true;
    default:
      return false;
  }
}

// Opcodes whose first operand is a column: 0x05..0x09, 0x10, 0x11, 0x14..0x16.
constexpr uint32_t kColumnOpcodes = 0x007303e0;

bool Machine::StepColumn(uint8_t opcode, EhReader& reader) {
  if (opcode == 0x2e) {  // GNU_args_size: arguments pushed, already part of the CFA offset
    reader.Unsigned();
    return true;
  }
  if (opcode >= 32 || (kColumnOpcodes >> opcode & 1) == 0) return false;
  const uint64_t column = reader.Unsigned();
  switch (opcode) {
    case 0x05:  // offset_extended
      Set(column, Where::kAtCfa, Factored(reader.Unsigned()));
      return true;
    case 0x11:  // offset_extended_sf
      Set(column, Where::kAtCfa, Factored(static_cast<uint64_t>(reader.Signed())));
      return true;
    case 0x06:  // restore_extended
      Restore(column);
      return true;
    case 0x07:
      Set(column, Where::kUndefined);
      return true;
    case 0x08:
      Set(column, Where::kSame);
      return true;
    case 0x10:  // expression
      SetExpression(column, reader.Block(reader.Unsigned()));
      return true;
    case 0x16:  // val_expression
      Set(column, Where::kOther);
      reader.Block(reader.Unsigned());
      return true;
    default:  // 0x09 register, 0x14 val_offset, 0x15 val_offset_sf: one more operand
      Set(column, Where::kOther);
      reader.Unsigned();
      return true;
  }
}

bool Machine::StepState(uint8_t opcode) {
  if (opcode == 0x0a) {  // remember_state
    if (remembered_count_ == kMaxRemembered) return false;
    remembered_[remembered_count_++] = row_;
    return true;
  }
  if (opcode == 0x0b) {  // restore_state
    if (remembered_count_ == 0) return false;
    row_ = remembered_[--remembered_count_];
    return true;
  }
  return false;
}

bool Machine::Advance(uint64_t delta) {
  location_ += delta * common_.code_alignment;
  return true;
}

void Machine::DefineCfa(uint64_t dwarf_register, int64_t offset) {
  const bool usable = dwarf_register < 32 && FitsInOffset(offset);
  row_.cfa.shape = usable ? ExpressionShape::kRegister : ExpressionShape::kOther;
  row_.cfa.dwarf_register = static_cast<uint8_t>(dwarf_register & 31);
  row_.cfa.offset = static_cast<int32_t>(offset);
}

void Machine::Set(uint64_t column, Where where, int64_t offset) {
  const Column value{FitsInOffset(offset) ? where : Where::kOther, static_cast<int32_t>(offset)};
  if (column == kRbp) row_.rbp = value;
  if (column == kRip) row_.rip = value;
}

void Machine::SetExpression(uint64_t column, MemoryView expression) {
  const CfiExpression value = RecogniseExpression(expression);
  const bool at_rbp = value.shape == ExpressionShape::kRegister && value.dwarf_register == kRbp;
  Set(column, at_rbp ? Where::kAtRbp : Where::kOther, value.offset);
}

void Machine::Restore(uint64_t column) {
  if (column == kRbp) row_.rbp = initial_.rbp;
  if (column == kRip) row_.rip = initial_.rip;
}

// kUncovered for a CFA that is neither rsp nor rbp based (r10 or rbx inside a prologue).
RuleKind CfaKind(const CfiExpression& cfa) {
  const bool sp = cfa.dwarf_register == kRsp;
  if (!sp && cfa.dwarf_register != kRbp) return RuleKind::kUncovered;
  switch (cfa.shape) {
    case ExpressionShape::kRegister:
      return sp ? RuleKind::kSp : RuleKind::kFp;
    case ExpressionShape::kDeref:
      return sp ? RuleKind::kSpDeref : RuleKind::kFpDeref;
    case ExpressionShape::kPlt:
      return RuleKind::kPlt;
    default:
      return RuleKind::kUncovered;
  }
}

FpMode FpModeOf(const Column& rbp) {
  switch (rbp.where) {
    case Where::kSame:
      return FpMode::kSame;
    case Where::kAtCfa:
      return FpMode::kAtCfa;
    case Where::kAtRbp:
      return FpMode::kAtFp;
    default:
      return FpMode::kLost;
  }
}

UnwindRule RuleFromRow(const Row& row) {
  if (row.rip.where == Where::kUndefined) return PlainRule(RuleKind::kEnd);
  const RuleKind kind = CfaKind(row.cfa);
  // The return address is where `call` put it, just below the CFA, in all code that calls.
  if (kind == RuleKind::kUncovered || row.rip.where != Where::kAtCfa || row.rip.offset != -8) {
    return PlainRule(RuleKind::kUncovered);
  }
  // A PLT threshold is 0..15: stored times 8 because rules hold multiples of 8.
  const int64_t cfa_offset = int64_t{row.cfa.offset} * (kind == RuleKind::kPlt ? 8 : 1);
  const FpMode fp_mode = FpModeOf(row.rbp);
  const bool has_offset = fp_mode == FpMode::kAtCfa || fp_mode == FpMode::kAtFp;
  return PackRule(kind, cfa_offset, fp_mode, has_offset ? row.rbp.offset : 0);
}

}  // namespace

UnwindRule RuleFromDescription(const FrameDescription& description, uintptr_t ip) {
  if (ip - description.start >= description.size_bytes) return PlainRule(RuleKind::kNoInfo);
  if (description.common.is_signal_frame) return PlainRule(RuleKind::kSignal);
  Machine machine(description.common, description.start);
  if (!machine.Run(description.common.instructions, ip)) return PlainRule(RuleKind::kUncovered);
  machine.KeepAsInitial();
  if (!machine.Run(description.instructions, ip)) return PlainRule(RuleKind::kUncovered);
  return RuleFromRow(machine.row());
}

UnwindRule CompileRule(const EhFrameHeader& header, MemoryView frames, uintptr_t ip) {
  const auto address = FindDescription(header, ip);
  if (!address) return PlainRule(RuleKind::kNoInfo);
  const auto description = ParseDescription(frames, *address);
  if (!description) return PlainRule(RuleKind::kUncovered);
  return RuleFromDescription(*description, ip);
}

bool StartsFunction(const EhFrameHeader& header, MemoryView frames, uintptr_t pc) {
  const auto address = FindDescription(header, pc);
  if (!address) return false;
  const auto description = ParseDescription(frames, *address);
  return description && description->start == pc;
}

}  // namespace memagent::capture
