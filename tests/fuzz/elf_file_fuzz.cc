// The ELF parser: any bytes, no read outside them, answers that keep their promises.
#include <elf.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "agent/os/elf_file.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  header.e_phoff = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  header.e_shoff = header.e_phoff + 2 * sizeof(Elf64_Phdr);
  Elf64_Phdr segments[2] = {};
  segments[0].p_type = PT_LOAD;
  segments[0].p_filesz = 0x1000;
  segments[1].p_type = PT_NOTE;
  segments[1].p_offset = header.e_shoff;
  segments[1].p_filesz = 32;
  Elf64_Shdr sections[2] = {};
  sections[1].sh_type = SHT_SYMTAB;
  sections[1].sh_entsize = sizeof(Elf64_Sym);
  sections[1].sh_link = 1;
  sections[1].sh_offset = header.e_shoff + sizeof(sections);
  sections[1].sh_size = sizeof(Elf64_Sym);
  Elf64_Sym symbol = {};
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbol.st_shndx = 1;
  symbol.st_size = 64;
  std::string text(reinterpret_cast<const char*>(&header), sizeof(header));
  text.append(reinterpret_cast<const char*>(segments), sizeof(segments));
  text.append(reinterpret_cast<const char*>(sections), sizeof(sections));
  text.append(reinterpret_cast<const char*>(&symbol), sizeof(symbol));
  memagent::testing::AddSeed(seeds, text);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace os = memagent::os;
  os::MemorySource source(std::span<const char>(reinterpret_cast<const char*>(data), size));
  const std::optional<os::ElfFile> file = os::ElfFile::Parse(source);
  if (!file) return 0;
  const std::array<uint64_t, 5> addresses = {0, 1, 0x1000, uint64_t{1} << 40, ~uint64_t{0}};
  if (file->FindFunctions(addresses).size() != addresses.size()) abort();
  if (file->build_id().size() > 64) abort();
  file->LoadBias(0x7f0000000000, 0x1000, true);
  file->MemoryEnd();
  file->Sections();
  uint64_t before = 0;
  for (const os::ElfObject& object : file->Objects()) {
    if (object.address < before || object.size_bytes == 0) abort();
    before = object.address;
    if (file->NameOf(object).size() > size) abort();
  }
  file->ThreadLocals();
  return 0;
}
