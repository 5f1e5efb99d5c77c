#include "agent/capture/unwind_objects.h"

#include <elf.h>
#include <link.h>

#include <cstring>

namespace memagent::capture {
namespace {

constexpr uintptr_t kPageSize = 4096;

// The program headers of `object` when its ELF header and they lie in its first page.
std::span<const ElfW(Phdr)> ProgramHeaders(const os::CodeObject& object) {
  if (object.end - object.start < kPageSize) return {};
  const auto* elf = reinterpret_cast<const ElfW(Ehdr)*>(object.start);
  if (std::memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0) return {};
  if (elf->e_phentsize != sizeof(ElfW(Phdr)) || elf->e_phoff > kPageSize) return {};
  if (elf->e_phoff + elf->e_phnum * sizeof(ElfW(Phdr)) > kPageSize) return {};
  return {reinterpret_cast<const ElfW(Phdr)*>(object.start + elf->e_phoff), elf->e_phnum};
}

uint32_t RoundUp4(uint32_t value) { return (value + 3) & ~uint32_t{3}; }

// The build id in a note segment; empty: none.
std::span<const uint8_t> BuildIdIn(std::span<const uint8_t> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof(note));
    const size_t contents = sizeof(note) + size_t{RoundUp4(note.n_namesz)};
    const size_t end = contents + RoundUp4(note.n_descsz);
    if (end > notes.size()) return {};
    const bool gnu = note.n_namesz == 4 && std::memcmp(&notes[sizeof(note)], ELF_NOTE_GNU, 4) == 0;
    if (gnu && note.n_type == NT_GNU_BUILD_ID) return notes.subspan(contents, note.n_descsz);
    notes = notes.subspan(end);
  }
  return {};
}

// Run-time address minus ELF address; the first PT_LOAD is the lowest (ELF, PT_LOAD).
uintptr_t BiasOf(const os::CodeObject& object, std::span<const ElfW(Phdr)> headers) {
  for (const ElfW(Phdr) & header : headers) {
    if (header.p_type == PT_LOAD) return object.start - (header.p_vaddr & ~(kPageSize - 1));
  }
  return object.start;
}

MemoryView ViewOf(uintptr_t start, uintptr_t end) {
  return {{reinterpret_cast<const uint8_t*>(start), end - start}, start};
}

// The build id of a loaded object; empty: none.
std::span<const uint8_t> BuildIdOf(const os::CodeObject& object,
                                   std::span<const ElfW(Phdr)> headers) {
  const uintptr_t bias = BiasOf(object, headers);
  for (const ElfW(Phdr) & header : headers) {
    if (header.p_type != PT_NOTE) continue;
    const uintptr_t start = bias + header.p_vaddr;
    const MemoryView notes = SegmentOf(object, start).From(start);
    if (notes.bytes.size() < header.p_memsz) continue;
    const auto build_id = BuildIdIn(notes.bytes.first(header.p_memsz));
    if (!build_id.empty()) return build_id;
  }
  return {};
}

}  // namespace

MemoryView SegmentOf(const os::CodeObject& object, uintptr_t address) {
  const auto headers = ProgramHeaders(object);
  const uintptr_t bias = BiasOf(object, headers);
  for (const ElfW(Phdr) & header : headers) {
    const uintptr_t start = bias + header.p_vaddr;
    if (header.p_type == PT_LOAD && address - start < header.p_filesz) {
      return ViewOf(start, start + header.p_filesz);
    }
  }
  if (!headers.empty() || address < object.start || address >= object.end) return {};
  return ViewOf(address, object.end);  // headers elsewhere: trust the mapping
}

uint32_t IdentityOfBuildId(std::span<const uint8_t> build_id) {
  uint32_t first = 0;
  if (build_id.size() < sizeof(first)) return kUnknownCode;
  std::memcpy(&first, build_id.data(), sizeof(first));
  return 1 + first % (kUnknownCode - 1);
}

uint32_t CodeIdentity(uintptr_t ip) {
  const auto object = os::FindCodeObject(ip);
  if (!object) return kUnknownCode;
  return IdentityOfBuildId(BuildIdOf(*object, ProgramHeaders(*object)));
}

base::CodePlace PlaceOfCode(uintptr_t ip) {
  const auto object = os::FindCodeObject(ip);
  if (!object) return {};
  const auto headers = ProgramHeaders(*object);
  if (headers.empty()) return {};
  base::CodePlace place;
  place.build_id = BuildIdOf(*object, headers);
  if (place.build_id.empty()) {
    place.headers_key = base::ProgramHeadersKey(
        {reinterpret_cast<const uint8_t*>(headers.data()), headers.size_bytes()});
  }
  place.address = ip - BiasOf(*object, headers);
  return place;
}

}  // namespace memagent::capture
