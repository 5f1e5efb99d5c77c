// Symbolisation, with this test program as the module.
#include "viewer/symbolize.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "agent/profile/reader.h"
#include "viewer/module_lines.h"

// Not in the anonymous namespace and not inlined: it must have a symbol and lines of its own.
constexpr uint32_t kFirstLine = __LINE__;
[[gnu::noinline]] int MarkedFunction(int value) {
  asm volatile("" : "+r"(value));
  return value + 1;
}
constexpr uint32_t kLastLine = __LINE__;

constexpr uint32_t kVariableLine = __LINE__ + 1;
int g_marked_variable[1000];

namespace memagent::viewer {
namespace {

struct Self {
  std::string path;
  std::string build_id;
  uint64_t bias = 0;
};

std::string BuildIdOf(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* note = reinterpret_cast<const char*>(info.dlpi_addr + header.p_vaddr);
    const char* end = note + header.p_memsz;
    while (note + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) parts;
      std::memcpy(&parts, note, sizeof parts);
      const char* name = note + sizeof parts;
      const char* data = name + (parts.n_namesz + 3) / 4 * 4;
      if (parts.n_type == NT_GNU_BUILD_ID && std::strcmp(name, "GNU") == 0) {
        return std::string(data, parts.n_descsz);
      }
      note = data + (parts.n_descsz + 3) / 4 * 4;
    }
  }
  return "";
}

Self FindSelf() {
  Self self;
  self.path = std::filesystem::read_symlink("/proc/self/exe").string();
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        Self& found = *static_cast<Self*>(out);
        found.bias = info->dlpi_addr;
        found.build_id = BuildIdOf(*info);
        return 1;  // the first is the executable
      },
      &self);
  return self;
}

profile::Profile ProfileOf(const Self& self, bool is_instruction, uint64_t extra) {
  profile::Profile profile;
  profile.strings = {"", self.path};
  profile.modules.resize(2);
  profile.modules[1].set_path(1);
  profile.modules[1].set_build_id(self.build_id);
  profile.frames.resize(2);
  profile.frames[1].module = 1;
  profile.frames[1].address = reinterpret_cast<uint64_t>(&MarkedFunction) - self.bias + extra;
  profile.frames[1].is_instruction = is_instruction;
  return profile;
}

class SymbolizeSelf : public testing::Test {
 protected:
  void SetUp() override {
    self_ = FindSelf();
    if (self_.build_id.empty()) GTEST_SKIP() << "the linker wrote no build-id";
  }
  Self self_;
};

TEST_F(SymbolizeSelf, InstructionHasFunctionFileAndLine) {
  EXPECT_EQ(MarkedFunction(1), 2);
  const profile::Profile profile = ProfileOf(self_, true, 0);
  Symbolizer symbolizer(profile);
  const CodeLine& line = symbolizer.Resolve(1).back();
  EXPECT_EQ(line.short_function, "MarkedFunction");
  EXPECT_EQ(std::filesystem::path(line.file).filename(), "symbolize_test.cc");
  EXPECT_GT(line.line, kFirstLine);
  EXPECT_LT(line.line, kLastLine);
  EXPECT_EQ(line.module, self_.path);
  EXPECT_TRUE(symbolizer.Notes().empty());
}

TEST_F(SymbolizeSelf, ReturnAddressBelongsToTheByteBeforeIt) {
  // As a return address, the function's first byte belongs to whatever stands before the function.
  const profile::Profile first = ProfileOf(self_, false, 0);
  EXPECT_NE(Symbolizer(first).Resolve(1).back().short_function, "MarkedFunction");
  const profile::Profile second = ProfileOf(self_, false, 1);
  EXPECT_EQ(Symbolizer(second).Resolve(1).back().short_function, "MarkedFunction");
}

TEST_F(SymbolizeSelf, VariableHasItsDeclarationsLine) {
  const profile::Profile profile = ProfileOf(self_, true, 0);
  const auto address = reinterpret_cast<uint64_t>(&g_marked_variable) - self_.bias;
  const CodeLine line = Symbolizer(profile).ResolveVariable(1, address);
  EXPECT_EQ(std::filesystem::path(line.file).filename(), "symbolize_test.cc");
  EXPECT_EQ(line.line, kVariableLine);
  EXPECT_EQ(Symbolizer(profile).ResolveVariable(1, address + 4).file, "");
}

TEST_F(SymbolizeSelf, OtherBuildGivesNoLinesAndSaysSo) {
  self_.build_id[0] = static_cast<char>(self_.build_id[0] ^ 1);
  const profile::Profile profile = ProfileOf(self_, true, 0);
  Symbolizer symbolizer(profile);
  EXPECT_EQ(symbolizer.Resolve(1).front().file, "");
  ASSERT_EQ(symbolizer.Notes().size(), 1u);
  EXPECT_EQ(symbolizer.Notes()[0].text,
            self_.path + " has changed since it was recorded: profile the new build.");
}

TEST(Symbolize, MissingModuleGivesNoLinesAndSaysSo) {
  const profile::Profile profile = ProfileOf({"/no/such/file", "id", 0}, true, 0);
  Symbolizer symbolizer(profile);
  EXPECT_EQ(symbolizer.Resolve(1).size(), 1u);
  EXPECT_EQ(symbolizer.Notes()[0].text,
            "/no/such/file is not on this machine: report where it was recorded.");
}

TEST(Symbolize, DeviceIsNeverOpened) { EXPECT_NE(ModuleLines("/dev/zero", "id").problem(), ""); }

TEST(Symbolize, FrameInNoModuleKeepsItsAddress) {
  profile::Profile profile;
  profile.frames.resize(2);
  profile.frames[1].address = 0x7fff1234;
  Symbolizer symbolizer(profile);
  EXPECT_EQ(symbolizer.Resolve(1).front().address, 0x7fff1234u);
  EXPECT_EQ(symbolizer.Resolve(0).front().function, "");
}

TEST(Symbolize, ProfilesOwnSymbolIsDemangled) {
  profile::Profile profile;
  profile.strings = {"", "_ZN4GridC1Ei"};
  profile.frames.resize(2);
  profile.frames[1].function = 1;
  Symbolizer symbolizer(profile);
  EXPECT_EQ(symbolizer.Resolve(1).front().function, "Grid::Grid(int)");
  EXPECT_EQ(symbolizer.Resolve(1).front().short_function, "Grid::Grid");
}

}  // namespace
}  // namespace memagent::viewer
