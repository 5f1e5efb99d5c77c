// Any bytes as the program to start: ELF headers and "#!" lines.
#include <elf.h>

#include <cstdlib>
#include <cstring>

#include "inject/program.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = EM_X86_64;
  header.e_phnum = 1;
  header.e_phoff = sizeof(header);
  header.e_shnum = 2;
  header.e_shoff = header.e_phoff + sizeof(Elf64_Phdr);
  Elf64_Phdr segment = {};
  segment.p_type = PT_INTERP;
  Elf64_Shdr sections[2] = {};
  sections[0].sh_type = SHT_DYNSYM;
  sections[0].sh_link = 1;
  sections[1].sh_offset = header.e_shoff + sizeof(sections);
  sections[1].sh_size = 13;
  std::string text(reinterpret_cast<const char*>(&header), sizeof(header));
  text.append(reinterpret_cast<const char*>(&segment), sizeof(segment));
  text.append(reinterpret_cast<const char*>(sections), sizeof(sections));
  text.append("\0__asan_init\0", 13);
  memagent::testing::AddSeed(seeds, text);
  memagent::testing::AddSeed(seeds, "#! /usr/bin/env  python3 -u\nprint()\n");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace inject = memagent::inject;
  const std::span file(reinterpret_cast<const char*>(data), size);
  const inject::ProgramKind kind = inject::ClassifyProgram(file);
  const std::string interpreter = inject::ScriptInterpreter(file);
  if (kind == inject::ProgramKind::kPrivileged) abort();
  if (!interpreter.empty() && kind != inject::ProgramKind::kScript) abort();
  if (interpreter.find_first_of(" \t\n") != std::string::npos) abort();
  return 0;
}
