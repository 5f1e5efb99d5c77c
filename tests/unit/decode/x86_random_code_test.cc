// Random bytes as code: nothing crashes, and each address equals what Zydis itself computes.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "agent/decode/access_resolver.h"
#include "agent/decode/x86_semantics.h"
#include "tests/unit/decode/fake_code.h"

namespace memagent::decode {
namespace {

class RandomCode : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(os::LoadZydis().loaded) << os::LoadZydis().reason; }

  std::vector<std::byte> Bytes(size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random_());
    return bytes;
  }

  std::mt19937_64 random_{23};
};

// The oracle: Zydis' own address of the first visible memory operand.
class Oracle {
 public:
  Oracle() {
    void* library = dlopen("libZydis.so.4.0", RTLD_LOCAL | RTLD_NOW);
    calculate_ =
        reinterpret_cast<decltype(calculate_)>(dlsym(library, "ZydisCalcAbsoluteAddressEx"));
    os::Zydis()->decoder_init(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  }

  Value Address(std::span<const std::byte> code, uint64_t pc,
                const std::array<uint64_t, kGprCount>& gprs) const {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(os::Zydis()->decode_full(&decoder_, code.data(), code.size(), &instruction,
                                               operands))) {
      return std::nullopt;
    }
    for (int i = 0; i < instruction.operand_count_visible; ++i) {
      const ZydisDecodedOperand& operand = operands[i];
      if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.type != ZYDIS_MEMOP_TYPE_MEM) {
        continue;
      }
      uint64_t address = 0;
      const ZydisRegisterContext context = ContextOf(gprs);
      if (!ZYAN_SUCCESS(calculate_(&instruction, &operand, pc, &context, &address))) break;
      return address;
    }
    return std::nullopt;
  }

 private:
  static ZydisRegisterContext ContextOf(const std::array<uint64_t, kGprCount>& gprs) {
    ZydisRegisterContext context = {};
    for (size_t i = 0; i < kGprCount; ++i) {
      context.values[ZYDIS_REGISTER_RAX + i] = gprs[i];
      context.values[ZYDIS_REGISTER_EAX + i] = gprs[i] & 0xffffffff;
    }
    return context;
  }

  decltype(&::ZydisCalcAbsoluteAddressEx) calculate_;
  ZydisDecoder decoder_;
};

TEST_F(RandomCode, AddressEqualsZydisOwn) {
  const X86Decoder decoder;
  const Oracle oracle;
  const uint64_t pc = 0x7f1234567000;
  int compared = 0;
  for (int round = 0; round < 300'000 && !HasFailure(); ++round) {
    const std::vector<std::byte> code = Bytes(kMaxInstructionBytes);
    const auto instruction = decoder.Decode(pc, code);
    if (!instruction || !instruction->accesses_memory) continue;
    const AddressExpression& address = instruction->address;
    if (address.opaque || address.after || address.segment != Segment::kNone) continue;
    std::array<uint64_t, kGprCount> gprs;
    for (uint64_t& gpr : gprs) gpr = random_();
    const Value expected = oracle.Address(code, pc, gprs);
    if (!expected) continue;
    const auto at = [&](Gpr gpr) { return gpr == kNoGpr ? Value() : Value(gprs[gpr]); };
    EXPECT_EQ(ComputeAddress(address, at(address.base), at(address.index), 0), expected)
        << "mnemonic at round " << round;
    ++compared;
  }
  EXPECT_GT(compared, 10'000);
}

TEST_F(RandomCode, OutlineAgreesWithFullDecode) {
  const X86Decoder decoder;
  for (int round = 0; round < 200'000 && !HasFailure(); ++round) {
    const std::vector<std::byte> code = Bytes(kMaxInstructionBytes);
    const auto instruction = decoder.Decode(0x1000, code);
    const auto outline = decoder.Outline(0x1000, code);
    ASSERT_EQ(instruction.has_value(), outline.has_value());
    if (!instruction) continue;
    EXPECT_EQ(instruction->length, outline->length);
    EXPECT_EQ(instruction->flow, outline->flow);
    EXPECT_EQ(instruction->target, outline->target);
  }
}

TEST_F(RandomCode, ResolveNeverFailsAndNeverContradictsItself) {
  FakeCode code;
  AccessResolver resolver(code);
  for (int round = 0; round < 4'000 && !HasFailure(); ++round) {
    code = FakeCode(Bytes(1 + random_() % 200));
    resolver.Flush();
    RawSample sample;
    sample.has_registers = random_() % 8 != 0;
    for (uint64_t& value : sample.registers) value = random_();
    for (uint64_t offset = 0; offset < 220; offset += 1 + random_() % 8) {
      sample.ip = FakeCode::kBase + offset;
      const auto result = resolver.Resolve(sample, random_() % 2);
      if (result.access.evidence == Evidence::kNone) {
        EXPECT_EQ(result.access.address, 0u);
      } else if (result.why == Unresolved::kNone) {
        EXPECT_TRUE(result.access.is_load || result.access.is_store);
      } else {
        EXPECT_NE(result.access.evidence, Evidence::kExact);
      }
    }
  }
}

}  // namespace
}  // namespace memagent::decode
