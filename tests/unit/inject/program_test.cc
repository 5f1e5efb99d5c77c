#include "inject/program.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace memagent::inject {
namespace {

using ::testing::HasSubstr;

std::vector<char> OwnExecutable() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::span<const char> Bytes(std::string_view text) { return {text.data(), text.size()}; }

// An ELF header with program headers of the given types behind it.
std::vector<char> SmallElf(std::initializer_list<uint32_t> segments) {
  std::vector<char> file = OwnExecutable();
  Elf64_Ehdr header;
  memcpy(&header, file.data(), sizeof(header));
  header.e_phoff = sizeof(header);
  header.e_phnum = static_cast<uint16_t>(segments.size());
  header.e_shnum = 0;
  file.resize(sizeof(header) + segments.size() * sizeof(Elf64_Phdr));
  memcpy(file.data(), &header, sizeof(header));
  size_t at = sizeof(header);
  for (uint32_t type : segments) {
    Elf64_Phdr segment = {};
    segment.p_type = type;
    memcpy(file.data() + at, &segment, sizeof(segment));
    at += sizeof(segment);
  }
  return file;
}

TEST(ClassifyProgram, DynamicProgramIsProfilable) {
  EXPECT_EQ(ClassifyProgram(SmallElf({PT_PHDR, PT_INTERP})), ProgramKind::kProfilable);
}

TEST(ClassifyProgram, NoInterpreterIsStatic) {
  EXPECT_EQ(ClassifyProgram(SmallElf({PT_LOAD})), ProgramKind::kStatic);
}

TEST(ClassifyProgram, OtherWordSizeOrMachineIsForeign) {
  std::vector<char> file = SmallElf({PT_INTERP});
  file[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(ClassifyProgram(file), ProgramKind::kOtherMachine);
  file[EI_CLASS] = ELFCLASS64;
  const uint16_t machine = EM_RISCV;
  memcpy(file.data() + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof(machine));
  EXPECT_EQ(ClassifyProgram(file), ProgramKind::kOtherMachine);
}

TEST(ClassifyProgram, OwnTestIsSanitizerExactlyWhenBuiltWithOne) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  EXPECT_EQ(ClassifyProgram(OwnExecutable()), ProgramKind::kSanitizer);
#else
  EXPECT_EQ(ClassifyProgram(OwnExecutable()), ProgramKind::kProfilable);
#endif
}

TEST(ClassifyProgram, ScriptAndTextAndNothing) {
  EXPECT_EQ(ClassifyProgram(Bytes("#!/bin/sh\n")), ProgramKind::kScript);
  EXPECT_EQ(ClassifyProgram(Bytes("hello")), ProgramKind::kUnknown);
  EXPECT_EQ(ClassifyProgram({}), ProgramKind::kUnknown);
}

TEST(ClassifyProgram, EveryTruncationAndFlippedByteIsSurvived) {
  std::vector<char> file = OwnExecutable();
  for (size_t size = 0; size < 1024; ++size) {
    ClassifyProgram(std::span<const char>(file.data(), size));
  }
  for (size_t at = 16; at < 512; ++at) {
    const char before = file[at];
    file[at] = static_cast<char>(~before);
    ClassifyProgram(file);
    file[at] = before;
  }
}

TEST(ScriptInterpreter, NameWithoutArgumentsOrSpace) {
  EXPECT_EQ(ScriptInterpreter(Bytes("#! /usr/bin/env python3\nx")), "/usr/bin/env");
  EXPECT_EQ(ScriptInterpreter(Bytes("#!/bin/sh")), "/bin/sh");
  EXPECT_EQ(ScriptInterpreter(Bytes("#!  \n")), "");
  EXPECT_EQ(ScriptInterpreter(Bytes("no")), "");
}

TEST(InspectProgram, FoundThroughPathAndFollowedToTheInterpreter) {
  const Program shell = InspectProgram("sh");
  EXPECT_TRUE(shell.path.ends_with("/sh"));
  EXPECT_EQ(shell.kind, ProgramKind::kProfilable);
  const std::string script = ::testing::TempDir() + "inspect_program_script";
  std::ofstream(script) << "#!/bin/sh\n";
  ASSERT_EQ(chmod(script.c_str(), 0755), 0);
  const Program program = InspectProgram(script);
  EXPECT_EQ(program.kind, ProgramKind::kProfilable);
  EXPECT_EQ(program.decided_by, "/bin/sh");
}

TEST(InspectProgram, MissingProgramHasNoPath) {
  EXPECT_EQ(InspectProgram("/no/such/program").path, "");
  EXPECT_EQ(WhyNotMeasured(InspectProgram("no-such-program-anywhere")), "");
}

TEST(WhyNotMeasured, NamesTheFileAndARemedy) {
  const Program program{"/bin/x", ProgramKind::kStatic, "/bin/x"};
  EXPECT_THAT(WhyNotMeasured(program), HasSubstr("'/bin/x' is statically linked"));
  EXPECT_THAT(WhyNotMeasured(program), HasSubstr("link it dynamically"));
}

}  // namespace
}  // namespace memagent::inject
