#include "agent/os/zydis_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

namespace memagent::os {
namespace {

TEST(ZydisLibrary, LoadedLibraryDecodes) {
  const ZydisLoad load = LoadZydis();
  ASSERT_TRUE(load.loaded) << load.reason;
  const ZydisFunctions* zydis = Zydis();
  ASSERT_NE(zydis, nullptr);
  ZydisDecoder decoder;
  ASSERT_TRUE(ZYAN_SUCCESS(
      zydis->decoder_init(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
  const unsigned char code[] = {0x48, 0x8b, 0x3f};  // mov (%rdi),%rdi
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  ASSERT_TRUE(
      ZYAN_SUCCESS(zydis->decode_full(&decoder, code, sizeof(code), &instruction, operands)));
  EXPECT_EQ(instruction.mnemonic, ZYDIS_MNEMONIC_MOV);
}

TEST(ZydisLibrary, SecondLoadGivesTheSameAnswer) {
  EXPECT_EQ(LoadZydis().loaded, LoadZydis().loaded);
  EXPECT_EQ(std::string(LoadZydis().reason), "");
}

TEST(ZydisLibrary, HostDoesNotSeeItsSymbols) {
  ASSERT_TRUE(LoadZydis().loaded);
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "ZydisDecoderInit"), nullptr);
}

}  // namespace
}  // namespace memagent::os
