// Against this test's own executable, whose symbols the compiler knows, and against ELF files made
// by hand.
#include "agent/os/elf_file.h"

#include <elf.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
// Known names for the tests: kept by `used`, found by their addresses.
[[gnu::used, gnu::noinline]] int memagent_elf_test_function(int x) { return x * 3 + 1; }
[[gnu::used]] int memagent_elf_test_table[100] = {1};
[[gnu::used]] thread_local int memagent_elf_test_local[7] = {1};
}

namespace memagent::os {
namespace {

uint64_t OwnBias() {
  uint64_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uint64_t*>(out) = info->dlpi_addr;  // the first is the executable
        return 1;
      },
      &bias);
  return bias;
}

std::string Text(const base::String& text) { return std::string(text.data(), text.size()); }

class OwnExecutable : public testing::Test {
 protected:
  void SetUp() override {
    elf_ = ElfFile::Parse(source_);
    ASSERT_TRUE(elf_.has_value());
  }
  FileSource source_{"/proc/self/exe"};
  std::optional<ElfFile> elf_;
};

TEST_F(OwnExecutable, FunctionsAreFoundByAnyAddressInside) {
  const uint64_t start = reinterpret_cast<uint64_t>(&memagent_elf_test_function) - OwnBias();
  const std::vector<uint64_t> addresses = {0, start, start + 1, start + 2, UINT64_MAX};
  const auto names = elf_->FindFunctions(addresses);
  ASSERT_EQ(names.size(), 5u);
  EXPECT_EQ(Text(names[0].name), "");
  EXPECT_EQ(Text(names[1].name), "memagent_elf_test_function");
  EXPECT_EQ(names[1].offset, 0u);
  EXPECT_EQ(Text(names[3].name), "memagent_elf_test_function");
  EXPECT_EQ(names[3].offset, 2u);
  EXPECT_EQ(Text(names[4].name), "");
}

TEST_F(OwnExecutable, NoAddressesMeansNoNames) { EXPECT_TRUE(elf_->FindFunctions({}).empty()); }

TEST_F(OwnExecutable, DefinedFunctionIsFoundByItsWholeName) {
  constexpr std::string_view kNames[] = {"ain", "malloc",
                                         "main"};  // libc's malloc is undefined here
  EXPECT_EQ(elf_->FindDefined(kNames), "main");
  constexpr std::string_view kOthers[] = {"ain", "no_such_function"};
  EXPECT_EQ(elf_->FindDefined(kOthers), "");
}

TEST_F(OwnExecutable, GlobalVariableIsFoundWithItsSize) {
  const uint64_t address = reinterpret_cast<uint64_t>(&memagent_elf_test_table) - OwnBias();
  const auto objects = elf_->Objects();
  ASSERT_FALSE(objects.empty());
  size_t found = 0;
  for (const ElfObject& object : objects) {
    if (object.address != address) continue;
    ++found;
    EXPECT_EQ(object.size_bytes, sizeof(memagent_elf_test_table));
    EXPECT_EQ(Text(elf_->NameOf(object)), "memagent_elf_test_table");
  }
  EXPECT_EQ(found, 1u);
  for (size_t i = 1; i < objects.size(); ++i) {
    ASSERT_LT(objects[i - 1].address, objects[i].address);
  }
}

TEST_F(OwnExecutable, ThreadLocalsAreListedApart) {
  size_t found = 0;
  for (const ElfObject& object : elf_->ThreadLocals()) {
    if (Text(elf_->NameOf(object)) != "memagent_elf_test_local") continue;
    ++found;
    EXPECT_EQ(object.size_bytes, sizeof(memagent_elf_test_local));
  }
  EXPECT_EQ(found, 1u);
}

// Every mapping of this executable gives the bias that the loader used.
TEST_F(OwnExecutable, ProgramHeadersAreThoseInMemory) {
  std::string in_memory;
  const auto first = [](dl_phdr_info* info, size_t, void* out) {
    static_cast<std::string*>(out)->assign(reinterpret_cast<const char*>(info->dlpi_phdr),
                                           info->dlpi_phnum * sizeof(*info->dlpi_phdr));
    return 1;  // the executable comes first
  };
  dl_iterate_phdr(first, &in_memory);
  const base::String table = elf_->ProgramHeaders();
  EXPECT_EQ(std::string(table.data(), table.size()), in_memory);
}

TEST_F(OwnExecutable, LoadBiasIsTheLoadersForEveryMapping) {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  ASSERT_NE(maps, nullptr);
  char executable[4096] = {};
  ASSERT_GT(readlink("/proc/self/exe", executable, sizeof(executable) - 1), 0);
  char line[8192];
  int checked = 0;
  while (std::fgets(line, sizeof(line), maps) != nullptr) {
    unsigned long start = 0, end = 0, offset = 0;
    char rights[5] = {};
    if (std::sscanf(line, "%lx-%lx %4s %lx", &start, &end, rights, &offset) != 4) continue;
    if (std::strstr(line, executable) == nullptr) continue;
    EXPECT_EQ(elf_->LoadBias(start, offset, rights[2] == 'x'), OwnBias()) << line;
    ++checked;
  }
  std::fclose(maps);
  EXPECT_GE(checked, 3);
}

TEST_F(OwnExecutable, EveryPrefixParsesOrIsRefused) {
  std::vector<char> bytes(source_.size_bytes());
  ASSERT_TRUE(source_.Read(0, bytes));
  const uint64_t address = reinterpret_cast<uint64_t>(&memagent_elf_test_function) - OwnBias();
  for (size_t length = 0; length < bytes.size(); length += 1 + length / 7) {
    MemorySource cut(std::span<const char>(bytes.data(), length));
    const std::optional<ElfFile> elf = ElfFile::Parse(cut);
    if (!elf) continue;
    const std::vector<uint64_t> addresses = {address};
    EXPECT_EQ(elf->FindFunctions(addresses).size(), 1u);
    for (const ElfObject& object : elf->Objects()) elf->NameOf(object);
  }
}

TEST(ElfFile, LibcHasABuildIdAndFunctionsWithoutASymbolTable) {
  struct Search {
    std::string path;
    uint64_t bias = 0;
  } libc;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        auto* found = static_cast<Search*>(out);
        if (std::strstr(info->dlpi_name, "libc.so") == nullptr) return 0;
        found->path = info->dlpi_name;
        found->bias = info->dlpi_addr;
        return 1;
      },
      &libc);
  if (libc.path.empty()) GTEST_SKIP() << "this executable is not linked to a shared libc";
  FileSource source(libc.path.c_str());
  const std::optional<ElfFile> elf = ElfFile::Parse(source);
  ASSERT_TRUE(elf.has_value());
  EXPECT_EQ(elf->build_id().size(), 20u);
  EXPECT_NE(source.inode(), 0u);
  const std::vector<uint64_t> addresses = {reinterpret_cast<uint64_t>(&gnu_get_libc_version) -
                                           libc.bias};
  const auto names = elf->FindFunctions(addresses);
  EXPECT_NE(Text(names[0].name).find("gnu_get_libc_version"), std::string::npos)
      << Text(names[0].name);
}

TEST(ElfFile, MissingFileFolderAndDeviceHaveNoBytes) {
  for (const char* path : {"/nonexistent", "/", "/dev/zero"}) {
    FileSource source(path);
    EXPECT_EQ(source.size_bytes(), 0u) << path;
    EXPECT_EQ(source.inode(), 0u) << path;
    EXPECT_FALSE(ElfFile::Parse(source).has_value()) << path;
  }
}

// A tiny ELF file: one PT_LOAD, and a symbol table made of `symbols` with their names.
class HandMadeElf {
 public:
  void Add(const char* name, uint64_t value, uint64_t size, unsigned char bind,
           unsigned char type) {
    Elf64_Sym symbol = {};
    symbol.st_name = static_cast<uint32_t>(names_.size());
    symbol.st_value = value;
    symbol.st_size = size;
    symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(bind, type));
    symbol.st_shndx = 3;
    names_ += name;
    names_ += '\0';
    symbols_.push_back(symbol);
  }

  std::string Bytes() const {
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 1;
    header.e_phoff = sizeof(header);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 4;
    header.e_shoff = sizeof(header) + sizeof(Elf64_Phdr);
    Elf64_Phdr load = {};
    load.p_type = PT_LOAD;
    load.p_flags = PF_R | PF_X;
    load.p_filesz = 0x4000;
    Elf64_Shdr sections[4] = {};
    const uint64_t symbols_at = header.e_shoff + sizeof(sections);
    sections[1].sh_type = SHT_SYMTAB;
    sections[1].sh_entsize = sizeof(Elf64_Sym);
    sections[1].sh_link = 2;
    sections[1].sh_offset = symbols_at;
    sections[1].sh_size = symbols_.size() * sizeof(Elf64_Sym);
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = symbols_at + sections[1].sh_size;
    sections[2].sh_size = names_.size();
    sections[3].sh_type = SHT_PROGBITS;
    sections[3].sh_addr = 0x1000;
    sections[3].sh_size = 0x1000;
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
    bytes.append(reinterpret_cast<const char*>(&load), sizeof(load));
    bytes.append(reinterpret_cast<const char*>(sections), sizeof(sections));
    bytes.append(reinterpret_cast<const char*>(symbols_.data()), sections[1].sh_size);
    return bytes + names_;
  }

 private:
  std::vector<Elf64_Sym> symbols_;
  std::string names_ = std::string(1, '\0');
};

std::vector<std::string> Names(const HandMadeElf& made, const std::vector<uint64_t>& addresses) {
  const std::string bytes = made.Bytes();
  MemorySource source{std::span<const char>(bytes)};
  const std::optional<ElfFile> elf = ElfFile::Parse(source);
  EXPECT_TRUE(elf.has_value());
  std::vector<std::string> names;
  if (!elf) return names;
  for (const FunctionName& name : elf->FindFunctions(addresses)) {
    names.push_back(Text(name.name) + "+" + std::to_string(name.offset));
  }
  return names;
}

using Strings = std::vector<std::string>;

TEST(ElfFile, InnerSymbolWinsAndOuterCoversTheRest) {
  HandMadeElf elf;
  elf.Add("inner", 0x1010, 0x10, STB_LOCAL, STT_FUNC);
  elf.Add("outer", 0x1000, 0x100, STB_GLOBAL, STT_FUNC);
  EXPECT_EQ(Names(elf, {0xfff, 0x1000, 0x1010, 0x101f, 0x1020, 0x10ff, 0x1100}),
            (Strings{"+0", "outer+0", "inner+0", "inner+15", "outer+32", "outer+255", "+0"}));
}

TEST(ElfFile, GlobalNameBeatsWeakAndLocalAliases) {
  HandMadeElf elf;
  elf.Add("local", 0x1000, 8, STB_LOCAL, STT_FUNC);
  elf.Add("global", 0x1000, 8, STB_GLOBAL, STT_FUNC);
  elf.Add("weak", 0x1000, 8, STB_WEAK, STT_FUNC);
  EXPECT_EQ(Names(elf, {0x1004}), Strings{"global+4"});
}

TEST(ElfFile, SymbolWithoutSizeReachesToTheNextAndNotOutOfItsSection) {
  HandMadeElf elf;
  elf.Add("start", 0x1000, 0, STB_GLOBAL, STT_FUNC);
  elf.Add("next", 0x1800, 4, STB_GLOBAL, STT_FUNC);
  elf.Add("last", 0x1f00, 0, STB_GLOBAL, STT_FUNC);
  EXPECT_EQ(Names(elf, {0x17ff, 0x1803, 0x1804, 0x1fff, 0x2000}),
            (Strings{"start+2047", "next+3", "+0", "last+255", "+0"}));
}

TEST(ElfFile, DataSymbolsNameNoCodeAndUndefinedOnesNothing) {
  HandMadeElf elf;
  elf.Add("data", 0x1000, 0x100, STB_GLOBAL, STT_OBJECT);
  elf.Add("code", 0x1100, 0x100, STB_GLOBAL, STT_FUNC);
  EXPECT_EQ(Names(elf, {0x1000, 0x1100}), (Strings{"+0", "code+0"}));
}

TEST(ElfFile, ThousandsOfSymbolsInAnyOrderAreAllFound) {
  HandMadeElf elf;
  std::vector<uint64_t> addresses;
  Strings expected;
  for (uint64_t i = 0; i < 3000; ++i) {
    const uint64_t scattered = (i * 7919) % 3000;
    elf.Add(("f" + std::to_string(scattered)).c_str(), 0x100000 + scattered * 16, 16, STB_LOCAL,
            STT_FUNC);
    addresses.push_back(0x100000 + i * 16 + 3);
    expected.push_back("f" + std::to_string(i) + "+3");
  }
  EXPECT_EQ(Names(elf, addresses), expected);
}

TEST(ElfFile, NameOutsideTheStringTableIsEmpty) {
  HandMadeElf elf;
  elf.Add("f", 0x1000, 8, STB_GLOBAL, STT_FUNC);
  std::string bytes = elf.Bytes();
  const size_t symbol = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + 4 * sizeof(Elf64_Shdr);
  bytes.replace(symbol, 4, "\xff\xff\xff\xff");
  MemorySource source{std::span<const char>(bytes)};
  const std::optional<ElfFile> parsed = ElfFile::Parse(source);
  ASSERT_TRUE(parsed.has_value());
  const std::vector<uint64_t> addresses = {0x1000};
  EXPECT_EQ(Text(parsed->FindFunctions(addresses)[0].name), "");
}

TEST(ElfFile, OtherKindsAreRefused) {
  std::string bytes = HandMadeElf().Bytes();
  for (const auto& [offset, value] : {std::pair<size_t, char>{0, 'X'},
                                      {EI_CLASS, ELFCLASS32},
                                      {EI_DATA, ELFDATA2MSB},
                                      {offsetof(Elf64_Ehdr, e_type), ET_REL},
                                      {offsetof(Elf64_Ehdr, e_phentsize), 1}}) {
    std::string other = bytes;
    other[offset] = value;
    MemorySource source{std::span<const char>(other)};
    EXPECT_FALSE(ElfFile::Parse(source).has_value()) << offset;
  }
}

}  // namespace
}  // namespace memagent::os
