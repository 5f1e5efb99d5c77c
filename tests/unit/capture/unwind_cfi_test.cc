// The parser and the call frame interpreter, on hand-made bytes.
#include "agent/capture/unwind_cfi.h"

#include <gtest/gtest.h>

#include "agent/capture/unwind_expression.h"
#include "tests/unit/capture/unwind_builder.h"

namespace memagent::capture {
namespace {

constexpr uintptr_t kSection = 0x10000;
constexpr uintptr_t kFunction = 0x8000;
constexpr uint32_t kSize = 0x100;

// The rule `offset` bytes into a function with `instructions`.
UnwindRule RuleAt(const Bytes& instructions, uintptr_t offset, bool signal = false) {
  const EhFrameBuilder section(kSection, kFunction, kSize, instructions, signal);
  const auto description =
      ParseDescription({section.bytes, kSection}, kSection + section.fde_offset);
  if (!description) return PlainRule(RuleKind::kNoInfo);
  EXPECT_EQ(description->start, kFunction);
  EXPECT_EQ(description->size_bytes, kSize);
  return RuleFromDescription(*description, kFunction + offset);
}

UnwindRule Sp(int64_t cfa) { return PackRule(RuleKind::kSp, cfa, FpMode::kSame, 0); }

TEST(UnwindRule, FieldsComeBackSigned) {
  const UnwindRule rule = PackRule(RuleKind::kFpDeref, -8, FpMode::kAtCfa, -1024);
  EXPECT_EQ(rule.kind(), RuleKind::kFpDeref);
  EXPECT_EQ(rule.fp_mode(), FpMode::kAtCfa);
  EXPECT_EQ(rule.cfa_offset(), -8);
  EXPECT_EQ(rule.fp_offset(), -1024);
  EXPECT_EQ(PackRule(RuleKind::kSp, int64_t{1} << 33, FpMode::kSame, 0).cfa_offset(),
            int64_t{1} << 33);
}

TEST(UnwindRule, OffsetThatDoesNotFitIsUncovered) {
  EXPECT_EQ(PackRule(RuleKind::kSp, 12, FpMode::kSame, 0).kind(), RuleKind::kUncovered);
  EXPECT_EQ(PackRule(RuleKind::kSp, int64_t{1} << 40, FpMode::kSame, 0).kind(),
            RuleKind::kUncovered);
  EXPECT_EQ(PackRule(RuleKind::kSp, 8, FpMode::kAtCfa, -(int64_t{1} << 30)).kind(),
            RuleKind::kUncovered);
}

// push %rbp; mov %rsp,%rbp; ...; leave; ret
TEST(UnwindCfi, FramePointerPrologueAndEpilogue) {
  const Bytes code{0x41,        0x0e, 16, 0x86, 2,  // +1: offset 16, rbp at -16
                   0x43,        0x0d, 6,            // +4: def_cfa_register rbp
                   0x40 + 0x20, 0x0c, 7,  8};       // +0x24: def_cfa rsp 8
  EXPECT_EQ(RuleAt(code, 0), Sp(8));
  EXPECT_EQ(RuleAt(code, 1), PackRule(RuleKind::kSp, 16, FpMode::kAtCfa, -16));
  EXPECT_EQ(RuleAt(code, 4), PackRule(RuleKind::kFp, 16, FpMode::kAtCfa, -16));
  EXPECT_EQ(RuleAt(code, 0x23), PackRule(RuleKind::kFp, 16, FpMode::kAtCfa, -16));
  EXPECT_EQ(RuleAt(code, 0x24), PackRule(RuleKind::kSp, 8, FpMode::kAtCfa, -16));
}

TEST(UnwindCfi, RememberRestoreAndRestoreColumn) {
  const Bytes code{0x0e, 16,       0x86, 2, 0x0a,  // remember
                   0x41, 0xc0 + 6, 0x0e, 8,        // +1: restore rbp, offset 8
                   0x41, 0x0b};                    // +2: restore_state
  EXPECT_EQ(RuleAt(code, 0), PackRule(RuleKind::kSp, 16, FpMode::kAtCfa, -16));
  EXPECT_EQ(RuleAt(code, 1), Sp(8));
  EXPECT_EQ(RuleAt(code, 2), PackRule(RuleKind::kSp, 16, FpMode::kAtCfa, -16));
}

TEST(UnwindCfi, AdvanceInAllWidths) {
  const Bytes code{0x02, 16, 0x0e, 16,                   // advance_loc1
                   0x03, 16, 0,    0x0e, 24,             // advance_loc2
                   0x04, 16, 0,    0,    0,  0x0e, 32};  // advance_loc4
  EXPECT_EQ(RuleAt(code, 15), Sp(8));
  EXPECT_EQ(RuleAt(code, 16), Sp(16));
  EXPECT_EQ(RuleAt(code, 32), Sp(24));
  EXPECT_EQ(RuleAt(code, 48), Sp(32));
}

TEST(UnwindCfi, OperandsOfEveryColumnInstructionAreSkipped) {
  const Bytes code{0x05, 3,    2,           // offset_extended rbx
                   0x11, 12,   0x7e,        // offset_extended_sf r12
                   0x06, 3,                 // restore_extended
                   0x08, 12,                // same_value
                   0x09, 13,   14,          // register
                   0x10, 14,   1,    0x9c,  // expression
                   0x16, 15,   1,    0x9c,  // val_expression
                   0x14, 3,    1,           // val_offset
                   0x15, 3,    1,           // val_offset_sf
                   0x2e, 0x90, 1,           // GNU_args_size
                   0x13, 0x7c};             // def_cfa_offset_sf -4 * -8
  EXPECT_EQ(RuleAt(code, 0), Sp(32));
}

TEST(UnwindCfi, RealignedFrameReadsCfaFromMemory) {
  const Bytes code{0x0f, 3, 0x76, 0x78, 0x06,  // def_cfa_expression *(rbp - 8)
                   0x10, 6, 2,    0x76, 0};    // expression rbp: rbp + 0
  EXPECT_EQ(RuleAt(code, 0), PackRule(RuleKind::kFpDeref, -8, FpMode::kAtFp, 0));
}

TEST(UnwindCfi, PltExpressionIsRecognised) {
  const Bytes code{0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};
  EXPECT_EQ(RuleAt(code, 0), PackRule(RuleKind::kPlt, 11 * 8, FpMode::kSame, 0));
}

TEST(UnwindCfi, UndefinedReturnAddressEndsTheStack) {
  EXPECT_EQ(RuleAt({0x07, 16}, 0).kind(), RuleKind::kEnd);
}

TEST(UnwindCfi, SignalFrameNeedsNoInstructions) {
  EXPECT_EQ(RuleAt({0xff, 0xff}, 0, true).kind(), RuleKind::kSignal);
}

TEST(UnwindCfi, WhatARuleCannotSayIsUncovered) {
  EXPECT_EQ(RuleAt({0x0d, 3}, 0).kind(), RuleKind::kUncovered);              // CFA from rbx
  EXPECT_EQ(RuleAt({0x09, 16, 1}, 0).kind(), RuleKind::kUncovered);          // RA in a register
  EXPECT_EQ(RuleAt({0x80 + 16, 2}, 0).kind(), RuleKind::kUncovered);         // RA elsewhere
  EXPECT_EQ(RuleAt({0x0f, 2, 0x30, 0x06}, 0).kind(), RuleKind::kUncovered);  // *(0)
  EXPECT_EQ(RuleAt({0x3d}, 0).kind(), RuleKind::kUncovered);                 // unknown opcode
}

TEST(UnwindCfi, MalformedInstructionsAreUncovered) {
  EXPECT_EQ(RuleAt({0x0b}, 0).kind(), RuleKind::kUncovered);        // restore_state of nothing
  EXPECT_EQ(RuleAt({0x0f, 0x7f}, 0).kind(), RuleKind::kUncovered);  // block past the end
  EXPECT_EQ(RuleAt({0x0c, 0x80, 0x80, 0x80}, 0).kind(), RuleKind::kUncovered);
  EXPECT_EQ(RuleAt({0x0a, 0x0a, 0x0a, 0x0a, 0x0a}, 0).kind(), RuleKind::kUncovered);
}

TEST(UnwindCfi, AddressOutsideFunctionHasNoInfo) {
  EXPECT_EQ(RuleAt({}, kSize).kind(), RuleKind::kNoInfo);
  EXPECT_EQ(RuleAt({}, kSize - 1), Sp(8));
  EXPECT_EQ(RuleAt({}, ~uintptr_t{0}).kind(), RuleKind::kNoInfo);
}

TEST(UnwindEhFrame, EveryTruncationIsRefusedOrUncovered) {
  const EhFrameBuilder section(kSection, kFunction, kSize, {0x41, 0x0e, 16, 0x86, 2});
  for (size_t size = 0; size < section.bytes.size() - 4; ++size) {
    const MemoryView view{std::span(section.bytes).first(size), kSection};
    EXPECT_FALSE(ParseDescription(view, kSection + section.fde_offset)) << size;
  }
}

TEST(UnwindEhFrame, HeaderTableFindsLastFunctionAtOrBefore) {
  Bytes header{1, 0x1b, 0x03, 0x3b};
  Append(header, int32_t{0x100});
  Append(header, uint32_t{3});
  for (const int32_t value : {-0x3000, 10, -0x2000, 20, 0x1000, 30}) Append(header, value);
  const auto parsed = ParseEhFrameHeader({header, kSection});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->eh_frame, kSection + 4 + 0x100);
  EXPECT_FALSE(FindDescription(*parsed, kSection - 0x3001));
  EXPECT_EQ(FindDescription(*parsed, kSection - 0x3000), kSection + 10);
  EXPECT_EQ(FindDescription(*parsed, kSection - 0x2001), kSection + 10);
  EXPECT_EQ(FindDescription(*parsed, kSection), kSection + 20);
  EXPECT_EQ(FindDescription(*parsed, kSection + 0x1000), kSection + 30);
}

TEST(UnwindEhFrame, HeaderThatClaimsMoreRowsThanBytesIsRefused) {
  Bytes header{1, 0x1b, 0x03, 0x3b};
  Append(header, int32_t{0});
  Append(header, uint32_t{2});
  Append(header, uint64_t{0});
  EXPECT_FALSE(ParseEhFrameHeader({header, kSection}));
  header[0] = 2;
  EXPECT_FALSE(ParseEhFrameHeader({header, kSection}));
  EXPECT_FALSE(ParseEhFrameHeader({}));
}

TEST(UnwindExpression, TrailingBytesMakeItOther) {
  EXPECT_EQ(RecogniseExpression({Bytes{0x76, 0x78}, 0}).shape, ExpressionShape::kRegister);
  EXPECT_EQ(RecogniseExpression({Bytes{0x76, 0x78, 0x06, 0x06}, 0}).shape, ExpressionShape::kOther);
  EXPECT_EQ(RecogniseExpression({}).shape, ExpressionShape::kOther);
}

}  // namespace
}  // namespace memagent::capture
