#include "agent/capture/child_program.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "agent/base/syscall.h"

namespace memagent::capture {

constinit std::atomic<bool> programs_left_alone{false};

namespace {

constexpr size_t kMaxHeaders = 64;    // real programs have 10 to 15
constexpr size_t kMaxEntries = 4096;  // of the dynamic section; a browser's has 200
constexpr size_t kMaxPath = 1024;

template <typename T>
bool ReadAt(os::ByteSource& file, uint64_t offset, T& out) {
  return file.Read(offset, {reinterpret_cast<char*>(&out), sizeof(out)});
}

#if defined(__x86_64__)
constexpr uint16_t kOurMachine = EM_X86_64;
#else
constexpr uint16_t kOurMachine = EM_AARCH64;
#endif

// What stands at the same place in files of both word sizes.
struct ElfHead {
  unsigned char ident[EI_NIDENT];
  uint16_t type;
  uint16_t machine;
};

bool IsElf(const unsigned char* ident) { return memcmp(ident, ELFMAG, SELFMAG) == 0; }

bool IsForAnotherMachine(os::ByteSource& file) {
  ElfHead head;
  if (!ReadAt(file, 0, head) || !IsElf(head.ident)) return false;
  return head.ident[EI_CLASS] != ELFCLASS64 || head.machine != kOurMachine;
}

// Calls visit(header) for each program header until it returns false.
template <typename Visit>
void ForEachHeader(os::ByteSource& file, Visit visit) {
  Elf64_Ehdr elf;
  if (!ReadAt(file, 0, elf) || !IsElf(elf.e_ident)) return;
  if (elf.e_phentsize != sizeof(Elf64_Phdr)) return;
  const size_t count = std::min<size_t>(elf.e_phnum, kMaxHeaders);
  for (size_t i = 0; i < count; ++i) {
    Elf64_Phdr header;
    if (!ReadAt(file, elf.e_phoff + i * sizeof(header), header) || !visit(header)) return;
  }
}

// Calls visit(entry) for each entry of the dynamic section until it returns false.
template <typename Visit>
void ForEachDynamic(os::ByteSource& file, const Elf64_Phdr& section, Visit visit) {
  const size_t count = std::min<size_t>(section.p_filesz / sizeof(Elf64_Dyn), kMaxEntries);
  for (size_t i = 0; i < count; ++i) {
    Elf64_Dyn entry;
    if (!ReadAt(file, section.p_offset + i * sizeof(entry), entry)) return;
    if (entry.d_tag == DT_NULL || !visit(entry)) return;
  }
}

uint64_t FileOffset(os::ByteSource& file, uint64_t address) {
  uint64_t offset = 0;
  ForEachHeader(file, [&](const Elf64_Phdr& header) {
    const uint64_t inside = address - header.p_vaddr;
    if (header.p_type != PT_LOAD || inside >= header.p_filesz) return true;
    offset = header.p_offset + inside;
    return false;
  });
  return offset;
}

// gcc names them libasan.so.8, clang libclang_rt.asan-x86_64.so. ThreadSanitizer and the others
// start behind us (tried).
bool IsSanitizer(std::string_view library) {
  for (const std::string_view name :
       {"libasan.", "libhwasan.", "libclang_rt.asan", "libclang_rt.hwasan"}) {
    if (library.starts_with(name)) return true;
  }
  return false;
}

std::string_view PathVariable() {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("PATH=")) return text.substr(5);
  }
  return "/bin:/usr/bin";  // execvp(3)
}

bool NamesSanitizer(os::ByteSource& file, uint64_t offset) {
  char name[24] = {};
  if (offset >= file.size_bytes()) return false;
  const size_t length = std::min<uint64_t>(sizeof(name) - 1, file.size_bytes() - offset);
  return file.Read(offset, {name, length}) && IsSanitizer(name);
}

bool NeedsSanitizer(os::ByteSource& file) {
  Elf64_Phdr dynamic = {};
  ForEachHeader(file, [&](const Elf64_Phdr& header) {
    if (header.p_type == PT_DYNAMIC) dynamic = header;
    return dynamic.p_type != PT_DYNAMIC;
  });
  uint64_t strings = 0;
  ForEachDynamic(file, dynamic, [&](const Elf64_Dyn& entry) {
    if (entry.d_tag == DT_STRTAB) strings = FileOffset(file, entry.d_un.d_ptr);
    return strings == 0;
  });
  bool found = false;
  if (strings == 0) return false;
  ForEachDynamic(file, dynamic, [&](const Elf64_Dyn& entry) {
    found = entry.d_tag == DT_NEEDED && NamesSanitizer(file, strings + entry.d_un.d_val);
    return !found;
  });
  return found;
}

}  // namespace

bool CannotLoadUs(os::ByteSource& file) {
  return IsForAnotherMachine(file) || NeedsSanitizer(file);
}

namespace {

bool FileCannotLoadUs(const char* path) {
  os::FileSource file(path);
  return file.size_bytes() != 0 && CannotLoadUs(file);
}

}  // namespace

bool ProgramCannotLoadUs(const char* name, bool search_path) {
  const std::string_view text = name;
  if (!search_path || text.find('/') != std::string_view::npos) {
    return FileCannotLoadUs(name);
  }
  std::string_view folders = PathVariable();
  while (!folders.empty()) {
    const std::string_view folder = os::TakeUntil(folders, ':');
    char path[kMaxPath];
    if (folder.empty() || folder.size() + text.size() + 2 > sizeof(path)) continue;
    memcpy(path, folder.data(), folder.size());
    path[folder.size()] = '/';
    memcpy(path + folder.size() + 1, text.data(), text.size() + 1);
    if (base::Syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0) return FileCannotLoadUs(path);
  }
  return false;
}

}  // namespace memagent::capture
