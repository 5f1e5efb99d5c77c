#include "agent/capture/unwind_expression.h"

namespace memagent::capture {
namespace {

// Opcodes: DWARF 5 section 7.7.1.
constexpr uint8_t kDeref = 0x06;
constexpr uint8_t kAnd = 0x1a;
constexpr uint8_t kPlus = 0x22;
constexpr uint8_t kShl = 0x24;
constexpr uint8_t kGe = 0x2a;
constexpr uint8_t kLit0 = 0x30;
constexpr uint8_t kBreg0 = 0x70;
constexpr uint8_t kBregEnd = 0x90;
constexpr uint8_t kRsp = 7;
constexpr uint8_t kRip = 16;

// What follows "breg7 8" in a PLT rule, given that the bytes match; offset is the threshold.
bool ReadPltTail(EhReader& reader, int32_t& threshold) {
  if (reader.Byte() != kBreg0 + kRip || reader.Signed() != 0) return false;
  if (reader.Byte() != kLit0 + 15 || reader.Byte() != kAnd) return false;
  const uint8_t literal = reader.Byte();
  if (literal < kLit0 || literal > kLit0 + 15) return false;
  threshold = literal - kLit0;
  return reader.Byte() == kGe && reader.Byte() == kLit0 + 3 && reader.Byte() == kShl &&
         reader.Byte() == kPlus && reader.ok() && reader.AtEnd();
}

}  // namespace

CfiExpression RecogniseExpression(MemoryView bytes) {
  EhReader reader(bytes);
  const uint8_t base = reader.Byte();
  if (base < kBreg0 || base >= kBregEnd) return {};
  CfiExpression result;
  result.dwarf_register = static_cast<uint8_t>(base - kBreg0);
  const int64_t offset = reader.Signed();
  if (!reader.ok() || !FitsInOffset(offset)) return {};
  result.offset = static_cast<int32_t>(offset);
  if (reader.AtEnd()) {
    result.shape = ExpressionShape::kRegister;
    return result;
  }
  EhReader rest(reader.Rest());
  if (rest.Byte() == kDeref && rest.AtEnd()) {
    result.shape = ExpressionShape::kDeref;
    return result;
  }
  int32_t threshold = 0;
  if (result.dwarf_register == kRsp && result.offset == 8 && ReadPltTail(reader, threshold)) {
    return {ExpressionShape::kPlt, kRsp, threshold};
  }
  return {};
}

}  // namespace memagent::capture
