// What the resolver thinks an operation computes, against the processor: random register-only
// instructions are run natively and compared in value, flags and inverse.
#include "agent/decode/x86_semantics.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

// void stub(Machine*): loads all registers but rsp, runs the bytes in the hole, stores them back.
asm(R"(
    .pushsection .text
    .globl semantics_test_stub
    .hidden semantics_test_stub
semantics_test_stub:
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    push %rdi
    push 128(%rdi)
    popfq
    mov 0(%rdi), %rax
    mov 8(%rdi), %rcx
    mov 16(%rdi), %rdx
    mov 24(%rdi), %rbx
    mov 40(%rdi), %rbp
    mov 48(%rdi), %rsi
    mov 64(%rdi), %r8
    mov 72(%rdi), %r9
    mov 80(%rdi), %r10
    mov 88(%rdi), %r11
    mov 96(%rdi), %r12
    mov 104(%rdi), %r13
    mov 112(%rdi), %r14
    mov 120(%rdi), %r15
    mov 56(%rdi), %rdi
    .globl semantics_test_hole
    .hidden semantics_test_hole
semantics_test_hole:
    .skip 15, 0x90
    pushfq
    push %rdi
    mov 16(%rsp), %rdi
    mov %rax, 0(%rdi)
    mov %rcx, 8(%rdi)
    mov %rdx, 16(%rdi)
    mov %rbx, 24(%rdi)
    mov %rbp, 40(%rdi)
    mov %rsi, 48(%rdi)
    mov %r8, 64(%rdi)
    mov %r9, 72(%rdi)
    mov %r10, 80(%rdi)
    mov %r11, 88(%rdi)
    mov %r12, 96(%rdi)
    mov %r13, 104(%rdi)
    mov %r14, 112(%rdi)
    mov %r15, 120(%rdi)
    pop 56(%rdi)
    pop 128(%rdi)
    pop %rdi
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    ret
    .globl semantics_test_end
    .hidden semantics_test_end
semantics_test_end:
    .popsection
)");
extern "C" const char semantics_test_stub[], semantics_test_hole[], semantics_test_end[];

namespace memagent::decode {
namespace {

constexpr uint64_t kArithmeticFlags = 0x8c5;  // overflow, sign, zero, parity, carry

struct Machine {
  std::array<uint64_t, kGprCount> gprs;
  uint64_t flags;
};

// Runs instructions in a copy of the stub.
class Processor {
 public:
  Processor() {
    page_ =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (usable()) {
      std::memcpy(page_, semantics_test_stub,
                  static_cast<size_t>(semantics_test_end - semantics_test_stub));
    }
  }
  ~Processor() {
    if (usable()) munmap(page_, 4096);
  }
  bool usable() const { return page_ != MAP_FAILED; }

  Machine Run(std::span<const std::byte> code, Machine machine) {
    auto* hole = static_cast<std::byte*>(page_) + (semantics_test_hole - semantics_test_stub);
    std::fill_n(hole, kMaxInstructionBytes, std::byte{0x90});
    std::copy(code.begin(), code.end(), hole);
    void (*stub)(Machine*) = nullptr;
    std::memcpy(&stub, &page_, sizeof(stub));
    stub(&machine);
    return machine;
  }

 private:
  void* page_;
};

class Generator {
 public:
  uint64_t Number() {
    // Small, huge and sign-changing values meet the corner cases of flags.
    switch (Below(4)) {
      case 0:
        return Below(4);
      case 1:
        return ~Below(4);
      case 2:
        return uint64_t{1} << Below(64);
      default:
        return random_();
    }
  }
  uint64_t Below(uint64_t limit) { return random_() % limit; }

  Machine RandomMachine() {
    Machine machine;
    for (uint64_t& gpr : machine.gprs) gpr = Number();
    machine.flags = (random_() & 0x8d5) | 0x202;
    return machine;
  }

  // A register-only instruction: prefixes, one of the opcodes below, operands.
  std::vector<std::byte> Instruction() {
    bytes_.clear();
    if (Below(4) == 0) Put(0x66);
    if (Below(4) != 0) Put(0x40 + Below(16));
    switch (Below(6)) {
      case 0:
        PutGroup();
        break;
      case 1:
        PutExtension();
        break;
      case 2:
        PutLea();
        break;
      case 3:
        PutMoveImmediate();
        break;
      default:
        PutTwoRegisters();
        break;
    }
    for (int i = 0; i < 8; ++i) Put(Below(256));  // immediates; what is too much is cut off
    return bytes_;
  }

 private:
  void Put(uint64_t value) { bytes_.push_back(static_cast<std::byte>(value)); }
  template <size_t kCount>
  void PutOneOf(const uint8_t (&opcodes)[kCount]) {
    Put(opcodes[Below(kCount)]);
  }

  void PutTwoRegisters() {
    static constexpr uint8_t kOpcodes[] = {
        0x00, 0x01, 0x02, 0x03, 0x08, 0x09, 0x0a, 0x0b, 0x20, 0x21, 0x22, 0x23, 0x28, 0x29, 0x2a,
        0x2b, 0x30, 0x31, 0x32, 0x33, 0x38, 0x39, 0x3a, 0x3b, 0x84, 0x85, 0x88, 0x89, 0x8a, 0x8b};
    PutOneOf(kOpcodes);
    Put(0xc0 + Below(64));
  }
  void PutGroup() {
    static constexpr uint8_t kOpcodes[] = {0x80, 0x81, 0x83, 0xc0, 0xc1, 0xd0,
                                           0xd1, 0xf6, 0xf7, 0xfe, 0xff};
    PutOneOf(kOpcodes);
    Put(0xc0 + Below(64));
  }
  void PutExtension() {
    if (Below(8) == 0) return Put(0x98);  // cdqe
    if (Below(4) == 0) {
      Put(0x63);
    } else {
      static constexpr uint8_t kOpcodes[] = {0xb6, 0xb7, 0xbe, 0xbf};
      Put(0x0f);
      PutOneOf(kOpcodes);
    }
    Put(0xc0 + Below(64));
  }
  void PutLea() {
    Put(0x8d);
    Put(Below(192));  // all memory forms
    Put(Below(256));
  }
  void PutMoveImmediate() {
    static constexpr uint8_t kOpcodes[] = {0xb0, 0xb3, 0xb8, 0xba, 0xbf, 0xc6, 0xc7};
    PutOneOf(kOpcodes);
    Put(0xc0 + Below(8));
  }

  std::mt19937_64 random_{11};
  std::vector<std::byte> bytes_;
};

// Stack pointer and instruction pointer differ between the two worlds.
bool UsesStackOrCode(const Instruction& i, std::span<const std::byte> code) {
  const bool rip_relative =
      i.op == Op::kLea && i.address.base == kNoGpr && i.address.index == kNoGpr && code.size() > 5;
  return i.destination == kRsp || i.source == kRsp || i.address.base == kRsp || i.Writes(kRsp) ||
         rip_relative;
}

Value At(const Machine& machine, Gpr gpr) {
  return gpr == kNoGpr ? Value() : Value(machine.gprs[gpr]);
}

Inputs InputsOf(const Instruction& i, const Machine& machine) {
  return {At(machine, i.destination), At(machine, i.source), At(machine, i.address.base),
          At(machine, i.address.index)};
}

void ExpectSame(const Instruction& i, const Machine& before, const Machine& after) {
  const Inputs inputs = InputsOf(i, before);
  EXPECT_EQ(ForwardValue(i, inputs), At(after, i.destination));
  const Flags flags = FlagsAfter(i, inputs, {before.flags, ~uint64_t{0}});
  EXPECT_EQ(flags.value & flags.known & kArithmeticFlags,
            after.flags & flags.known & kArithmeticFlags);
  Inputs others = inputs;
  others.destination.reset();
  if (const Value inverse = InverseValue(i, after.gprs[i.destination], others)) {
    EXPECT_EQ(inverse, At(before, i.destination));
  }
  for (Gpr gpr = 0; gpr < kGprCount; ++gpr) {
    if (gpr != kRsp && !i.Writes(gpr)) {
      EXPECT_EQ(after.gprs[gpr], before.gprs[gpr]);
    }
  }
}

class X86Semantics : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(os::LoadZydis().loaded) << os::LoadZydis().reason; }
};

std::string Hex(std::span<const std::byte> code) {
  std::string text;
  for (const std::byte b : code) {
    static constexpr char kDigits[] = "0123456789abcdef";
    text += {kDigits[static_cast<int>(b) >> 4], kDigits[static_cast<int>(b) & 15], ' '};
  }
  return text;
}

TEST_F(X86Semantics, RandomOperationsComputeWhatTheProcessorComputes) {
  Processor processor;
  if (!processor.usable()) GTEST_SKIP() << "memory that is writable and executable was refused";
  const X86Decoder decoder;
  Generator generator;
  int compared[32] = {};
  for (int round = 0; round < 200'000 && !HasFailure(); ++round) {
    std::vector<std::byte> code = generator.Instruction();
    const auto instruction = decoder.Decode(0x1000, code);
    if (!instruction || instruction->op == Op::kOther) continue;
    code.resize(instruction->length);
    if (UsesStackOrCode(*instruction, code)) continue;
    SCOPED_TRACE(Hex(code));
    const Machine before = generator.RandomMachine();
    ExpectSame(*instruction, before, processor.Run(code, before));
    ++compared[static_cast<size_t>(instruction->op)];
  }
  for (int op = 1; op <= static_cast<int>(Op::kTest); ++op) EXPECT_GT(compared[op], 200) << op;
}

TEST_F(X86Semantics, ConditionsHoldWhenTheProcessorSaysSo) {
  Processor processor;
  if (!processor.usable()) GTEST_SKIP() << "memory that is writable and executable was refused";
  Generator generator;
  for (int round = 0; round < 5'000; ++round) {
    const auto condition = static_cast<uint8_t>(round % 16);
    const std::byte set_al[] = {std::byte{0x0f}, std::byte(0x90 + condition), std::byte{0xc0}};
    const Machine before = generator.RandomMachine();
    const Machine after = processor.Run(set_al, before);
    EXPECT_EQ(IsTaken(condition, {before.flags, ~uint64_t{0}}), (after.gprs[kRax] & 0xff) != 0);
  }
}

TEST_F(X86Semantics, ConditionOnUnknownFlagIsUnknown) {
  EXPECT_EQ(IsTaken(4, {0, ~uint64_t{0x40}}), std::nullopt);  // jz without the zero flag
  EXPECT_EQ(IsTaken(2, {0, ~uint64_t{0x40}}), false);         // jb does not need it
  EXPECT_EQ(IsTaken(kUndecidable, {0, ~uint64_t{0}}), std::nullopt);
  EXPECT_EQ(IsTaken(kAlways, {}), true);
}

TEST_F(X86Semantics, UnknownInputGivesUnknownOutput) {
  const X86Decoder decoder;
  const std::byte add_rax_rbx[] = {std::byte{0x48}, std::byte{0x01}, std::byte{0xd8}};
  const auto instruction = decoder.Decode(0, add_rax_rbx);
  ASSERT_TRUE(instruction.has_value());
  EXPECT_EQ(ForwardValue(*instruction, {1, std::nullopt, {}, {}}), std::nullopt);
  EXPECT_EQ(ForwardValue(*instruction, {std::nullopt, 1, {}, {}}), std::nullopt);
  EXPECT_EQ(ForwardValue(*instruction, {1, 1, {}, {}}), 2u);
  EXPECT_EQ(FlagsAfter(*instruction, {1, std::nullopt, {}, {}}, {0, ~uint64_t{0}}).known, 0u);
}

TEST_F(X86Semantics, ZeroingIdiomIsKnownWhateverWasThere) {
  const X86Decoder decoder;
  const std::byte xor_eax_eax[] = {std::byte{0x31}, std::byte{0xc0}};
  const auto instruction = decoder.Decode(0, xor_eax_eax);
  ASSERT_TRUE(instruction.has_value());
  EXPECT_EQ(ForwardValue(*instruction, {}), 0u);
  EXPECT_EQ(FlagsAfter(*instruction, {}, {}).value & 0x40, 0x40u);
}

}  // namespace
}  // namespace memagent::decode
