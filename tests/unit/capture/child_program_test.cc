#include "agent/capture/child_program.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace memagent::capture {
namespace {

// Not this test's own file, which a sanitizer may be part of.
std::string PlainProgram() {
  std::ifstream file("/bin/sh", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool Judge(const std::string& bytes) {
  os::MemorySource source(bytes);
  return CannotLoadUs(source);
}

TEST(ChildProgram, PlainProgramCanLoadUs) { EXPECT_FALSE(Judge(PlainProgram())); }

TEST(ChildProgram, SanitizerLibraryIsSeen) {
  std::string bytes = PlainProgram();
  size_t replaced = 0;
  for (size_t at = 0; (at = bytes.find("libc.so.6", at)) != std::string::npos; ++at, ++replaced) {
    bytes.replace(at, 9, "libasan.8");
  }
  ASSERT_GT(replaced, 0u);
  EXPECT_TRUE(Judge(bytes));
}

TEST(ChildProgram, OtherWordSizeAndMachineCannotLoadUs) {
  std::string bytes = PlainProgram();
  bytes[EI_CLASS] = ELFCLASS32;
  EXPECT_TRUE(Judge(bytes));
  bytes = PlainProgram();
  bytes[18] = static_cast<char>(EM_S390);  // e_machine
  EXPECT_TRUE(Judge(bytes));
}

TEST(ChildProgram, TruncatedFileIsNoReasonToDie) {
  const std::string bytes = PlainProgram();
  for (size_t size = 0; size < 4096; size += 7) EXPECT_FALSE(Judge(bytes.substr(0, size)));
}

TEST(ChildProgram, OtherFilesAreNoMatter) {
  EXPECT_FALSE(Judge(""));
  EXPECT_FALSE(Judge("#!/bin/sh\n"));
  EXPECT_FALSE(Judge(std::string(5000, '\xff')));
}

TEST(ChildProgram, MissingProgramIsNoMatter) {
  EXPECT_FALSE(ProgramCannotLoadUs("/nowhere/at/all", false));
  EXPECT_FALSE(ProgramCannotLoadUs("no-such-program", true));
  EXPECT_FALSE(ProgramCannotLoadUs("sh", true));
}

}  // namespace
}  // namespace memagent::capture
