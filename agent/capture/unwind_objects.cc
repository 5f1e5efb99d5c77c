#include "agent/capture/unwind_objects.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <atomic>
#include <cstring>

// Weak: on glibc < 2.35 it is null and the snapshot answers.
extern "C" int _dl_find_object(void*, struct dl_find_object*) noexcept __attribute__((weak));

namespace memagent::capture {
namespace {

constexpr uintptr_t kPageSize = 4096;
// Clang and Chromium load about 150 objects; more than this stay unknown.
constexpr size_t kMaxObjects = 512;

struct SnapshotEntry {
  std::atomic<uintptr_t> start{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<uintptr_t> eh_frame_header{0};
};

// Readers use the half that is published; the writer fills the other one.
constinit SnapshotEntry snapshots[2][kMaxObjects];
constinit std::atomic<size_t> snapshot_sizes[2] = {};
constinit std::atomic<unsigned> published{0};

CodeObject ObjectFromHeaders(const dl_phdr_info& info) {
  CodeObject object;
  for (const ElfW(Phdr) & header : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    const uintptr_t start = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_EH_FRAME) object.eh_frame_header = start;
    if (header.p_type != PT_LOAD) continue;
    const uintptr_t page = start & ~(kPageSize - 1);
    if (object.end == 0 || page < object.start) object.start = page;
    if (start + header.p_memsz > object.end) object.end = start + header.p_memsz;
  }
  return object;
}

int AddToSnapshot(dl_phdr_info* info, size_t, void* context) {
  const unsigned half = *static_cast<unsigned*>(context);
  const size_t index = snapshot_sizes[half].load(std::memory_order_relaxed);
  if (index == kMaxObjects) return 1;
  const CodeObject object = ObjectFromHeaders(*info);
  SnapshotEntry& entry = snapshots[half][index];
  entry.start.store(object.start, std::memory_order_relaxed);
  entry.end.store(object.end, std::memory_order_relaxed);
  entry.eh_frame_header.store(object.eh_frame_header, std::memory_order_relaxed);
  snapshot_sizes[half].store(index + 1, std::memory_order_relaxed);
  return 0;
}

// The program headers of `object` when its ELF header and they lie in its first page.
std::span<const ElfW(Phdr)> ProgramHeaders(const CodeObject& object) {
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
uintptr_t BiasOf(const CodeObject& object, std::span<const ElfW(Phdr)> headers) {
  for (const ElfW(Phdr) & header : headers) {
    if (header.p_type == PT_LOAD) return object.start - (header.p_vaddr & ~(kPageSize - 1));
  }
  return object.start;
}

MemoryView ViewOf(uintptr_t start, uintptr_t end) {
  return {{reinterpret_cast<const uint8_t*>(start), end - start}, start};
}

}  // namespace

std::optional<CodeObject> FindCodeObject(uintptr_t ip) {
  if (&_dl_find_object == nullptr) return FindInSnapshot(ip);
  dl_find_object found;
  if (_dl_find_object(reinterpret_cast<void*>(ip), &found) != 0) return std::nullopt;
  return CodeObject{reinterpret_cast<uintptr_t>(found.dlfo_map_start),
                    reinterpret_cast<uintptr_t>(found.dlfo_map_end),
                    reinterpret_cast<uintptr_t>(found.dlfo_eh_frame)};
}

MemoryView SegmentOf(const CodeObject& object, uintptr_t address) {
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
  const auto object = FindCodeObject(ip);
  if (!object) return kUnknownCode;
  const auto headers = ProgramHeaders(*object);
  const uintptr_t bias = BiasOf(*object, headers);
  for (const ElfW(Phdr) & header : headers) {
    if (header.p_type != PT_NOTE) continue;
    const uintptr_t start = bias + header.p_vaddr;
    const MemoryView notes = SegmentOf(*object, start).From(start);
    if (notes.bytes.size() < header.p_memsz) continue;
    const auto build_id = BuildIdIn(notes.bytes.first(header.p_memsz));
    if (!build_id.empty()) return IdentityOfBuildId(build_id);
  }
  return kUnknownCode;
}

void TakeObjectSnapshot() {
  unsigned half = 1 - published.load(std::memory_order_relaxed);
  snapshot_sizes[half].store(0, std::memory_order_relaxed);
  dl_iterate_phdr(AddToSnapshot, &half);
  published.store(half, std::memory_order_release);
}

std::optional<CodeObject> FindInSnapshot(uintptr_t ip) {
  const unsigned half = published.load(std::memory_order_acquire);
  const size_t size = snapshot_sizes[half].load(std::memory_order_relaxed);
  for (const SnapshotEntry& entry : std::span(snapshots[half], size)) {
    const uintptr_t start = entry.start.load(std::memory_order_relaxed);
    const uintptr_t end = entry.end.load(std::memory_order_relaxed);
    if (ip < start || ip >= end) continue;
    return CodeObject{start, end, entry.eh_frame_header.load(std::memory_order_relaxed)};
  }
  return std::nullopt;
}

}  // namespace memagent::capture
