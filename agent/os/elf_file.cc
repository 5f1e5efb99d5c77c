#include "agent/os/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "agent/base/syscall.h"

namespace memagent::os {
namespace {

using base::Syscall;

// Real files have about 13 program headers and 40 sections; -ffunction-sections objects are not
// mapped. More than this is damage.
constexpr uint32_t kMaxSegments = 256;
constexpr uint32_t kMaxSections = 1 << 16;
constexpr uint64_t kMaxNoteBytes = uint64_t{64} << 10;
constexpr uint64_t kMaxBuildIdBytes = 64;
constexpr uint64_t kPageBytes = 4096;

uint64_t RoundUp4(uint64_t value) { return (value + 3) & ~uint64_t{3}; }

template <typename T>
bool ReadStruct(ByteSource& source, uint64_t offset, T& out) {
  return source.Read(offset, std::span<char>(reinterpret_cast<char*>(&out), sizeof(out)));
}

bool IsOurKind(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
         (header.e_type == ET_EXEC || header.e_type == ET_DYN) &&
         header.e_phentsize == sizeof(Elf64_Phdr);
}

// Whether [offset, offset + bytes) lies in a file of `size` bytes.
bool Fits(uint64_t offset, uint64_t bytes, uint64_t size) {
  return offset <= size && bytes <= size - offset;
}

}  // namespace

bool MemorySource::Read(uint64_t offset, std::span<char> out) {
  if (!Fits(offset, out.size(), bytes_.size())) return false;
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  return true;
}

FileSource::FileSource(const char* path) {
  struct stat facts = {};
  if (Syscall(SYS_newfstatat, AT_FDCWD, path, &facts, 0) != 0 || !S_ISREG(facts.st_mode)) return;
  fd_.Reset(static_cast<int>(
      Syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0)));
  if (!fd_.valid() || Syscall(SYS_fstat, fd_.get(), &facts) != 0) return;
  if (!S_ISREG(facts.st_mode)) return;
  size_bytes_ = static_cast<uint64_t>(facts.st_size);
  inode_ = facts.st_ino;
}

bool FileSource::Read(uint64_t offset, std::span<char> out) {
  if (!Fits(offset, out.size(), size_bytes_)) return false;
  if (!HasBlockFor(offset, out.size())) return ReadDirectly(offset, out);
  memcpy(out.data(), block_ + (offset - block_start_), out.size());
  return true;
}

// Reads the block unless what is asked for lies across its end.
bool FileSource::HasBlockFor(uint64_t offset, size_t size) {
  const uint64_t start = offset - offset % kBlockBytes;
  const uint64_t end = std::min(start + kBlockBytes, size_bytes_);
  if (size > end - offset) return false;
  if (block_size_ == 0 || block_start_ != start) {
    block_start_ = start;
    block_size_ = end - start;
    if (!ReadDirectly(start, {block_, block_size_})) block_size_ = 0;
  }
  return block_size_ != 0;
}

bool FileSource::ReadDirectly(uint64_t offset, std::span<char> out) {
  size_t done = 0;
  while (done < out.size()) {
    const long got =
        Syscall(SYS_pread64, fd_.get(), out.data() + done, out.size() - done, offset + done);
    if (got == -EINTR) continue;
    if (got <= 0) return false;  // an error, or the file has shrunk
    done += static_cast<size_t>(got);
  }
  return true;
}

std::optional<ElfFile> ElfFile::Parse(ByteSource& source) {
  Elf64_Ehdr header;
  if (!ReadStruct(source, 0, header) || !IsOurKind(header)) return std::nullopt;
  ElfFile file(source);
  if (!file.ReadSegments(header.e_phoff, header.e_phnum)) return std::nullopt;
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff == 0) return file;
  uint64_t sections = header.e_shnum;
  Elf64_Shdr first;
  // Over 65,279 sections the count is in the first section header (ELF: e_shnum).
  if (sections == 0 && ReadStruct(source, header.e_shoff, first)) sections = first.sh_size;
  if (sections <= kMaxSections) {
    file.ReadSections(header.e_shoff, static_cast<uint32_t>(sections));
  }
  return file;
}

bool ElfFile::ReadSegments(uint64_t offset, uint32_t count) {
  if (count > kMaxSegments) return false;
  headers_at_ = offset;
  header_count_ = count;
  for (uint32_t i = 0; i < count; ++i) {
    Elf64_Phdr header;
    if (!ReadStruct(*source_, offset + i * sizeof(header), header)) return false;
    if (header.p_type == PT_LOAD) {
      segments_.push_back(Segment{header.p_offset, header.p_filesz, header.p_memsz, header.p_vaddr,
                                  (header.p_flags & PF_X) != 0});
    }
    if (header.p_type == PT_NOTE) ReadNotes(header.p_offset, header.p_filesz);
  }
  return true;
}

base::String ElfFile::ProgramHeaders() const {
  base::String table(header_count_ * sizeof(Elf64_Phdr), '\0');
  if (!source_->Read(headers_at_, table)) table.clear();
  return table;
}

void ElfFile::ReadNotes(uint64_t offset, uint64_t size) {
  if (size > kMaxNoteBytes || !Fits(offset, size, source_->size_bytes())) return;
  uint64_t at = 0;
  while (build_id_.empty() && Fits(at, sizeof(Elf64_Nhdr), size)) {
    Elf64_Nhdr note;
    if (!ReadStruct(*source_, offset + at, note)) return;
    const uint64_t name = at + sizeof(note);
    const uint64_t contents = name + RoundUp4(note.n_namesz);
    if (!Fits(contents, note.n_descsz, size)) return;
    char owner[4] = {};
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(owner) &&
        note.n_descsz <= kMaxBuildIdBytes && ReadStruct(*source_, offset + name, owner) &&
        std::memcmp(owner, ELF_NOTE_GNU, sizeof(owner)) == 0) {
      build_id_.resize(note.n_descsz);
      if (!source_->Read(offset + contents, build_id_)) build_id_.clear();
    }
    at = contents + RoundUp4(note.n_descsz);
  }
}

void ElfFile::ReadSections(uint64_t offset, uint32_t count) {
  sections_at_ = offset;
  section_count_ = count;
  const uint64_t file_bytes = source_->size_bytes();
  for (uint32_t i = 0; i < count; ++i) {
    Elf64_Shdr symbols;
    Elf64_Shdr strings;
    if (!ReadStruct(*source_, offset + i * sizeof(symbols), symbols)) return;
    if (symbols.sh_type != SHT_SYMTAB && symbols.sh_type != SHT_DYNSYM) continue;
    if (symbols.sh_entsize != sizeof(Elf64_Sym) || symbols.sh_link >= count) continue;
    if (!ReadStruct(*source_, offset + symbols.sh_link * sizeof(strings), strings)) continue;
    if (!Fits(symbols.sh_offset, symbols.sh_size, file_bytes)) continue;
    if (!Fits(strings.sh_offset, strings.sh_size, file_bytes)) continue;
    tables_.push_back(SymbolTable{symbols.sh_offset, symbols.sh_size / sizeof(Elf64_Sym),
                                  strings.sh_offset, strings.sh_offset + strings.sh_size});
    if (tables_.size() == 2) return;  // .symtab and .dynsym: a file has no more
  }
}

bool ElfFile::SectionCovers(uint32_t section, uint64_t address) const {
  Elf64_Shdr header;
  return section < section_count_ &&
         ReadStruct(*source_, sections_at_ + section * sizeof(header), header) &&
         address >= header.sh_addr && address - header.sh_addr < header.sh_size;
}

std::optional<uint64_t> ElfFile::LoadBias(uint64_t mapping_start, uint64_t file_offset,
                                          bool executable) const {
  std::optional<uint64_t> bias;
  bool same_rights = false;
  for (const Segment& segment : segments_) {
    const uint64_t first_page = segment.file_offset & ~(kPageBytes - 1);
    if (file_offset < first_page || file_offset - first_page >= segment.file_bytes + kPageBytes) {
      continue;
    }
    // One page of the file may end one segment and begin the next. Its right to execute tells which
    // it is, else the later one: only that has a mapping starting there.
    const bool same = segment.executable == executable;
    if (same_rights && !same) continue;
    same_rights = same;
    bias = mapping_start - (segment.address + (file_offset - segment.file_offset));
  }
  return bias;
}

uint64_t ElfFile::MemoryEnd() const {
  uint64_t end = 0;
  for (const Segment& segment : segments_) {
    end = std::max(end, segment.address + segment.memory_bytes);
  }
  return end;
}

base::Vector<ElfRange> ElfFile::Sections() const {
  base::Vector<ElfRange> ranges;
  for (uint32_t i = 0; i < section_count_; ++i) {
    Elf64_Shdr header;
    if (!ReadStruct(*source_, sections_at_ + i * sizeof(header), header)) break;
    const bool in_memory = (header.sh_flags & SHF_ALLOC) != 0 && header.sh_size != 0;
    const bool thread_bss = (header.sh_flags & SHF_TLS) != 0 && header.sh_type == SHT_NOBITS;
    if (!in_memory || thread_bss) continue;
    ranges.push_back(ElfRange{header.sh_addr, header.sh_addr + header.sh_size});
  }
  return ranges;
}

base::String ElfFile::NameAt(uint64_t offset, uint64_t limit) const {
  constexpr uint64_t kMaxNameBytes = uint64_t{32} << 10;
  constexpr uint64_t kStep = 256;
  base::String name;
  limit = std::min(limit, offset + kMaxNameBytes);
  while (offset < limit) {
    char block[kStep];
    const uint64_t count = std::min(kStep, limit - offset);
    if (!source_->Read(offset, std::span<char>(block, count))) break;
    const size_t length = strnlen(block, count);
    name.append(block, length);
    if (length < count) break;
    offset += count;
  }
  return name;
}

base::String ElfFile::NameOf(const ElfObject& object) const {
  return NameAt(object.name_at, object.name_limit);
}

}  // namespace memagent::os
