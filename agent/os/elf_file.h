// ELF files of 64-bit little-endian machines: where they are mapped, which build they are, and the
// names of their functions and variables.
//
// Nothing in a file is trusted: every offset and count is checked against the file's size. The file
// is read in blocks rather than mapped, because a mapped file that shrinks kills the reader with
// SIGBUS, and the reader lives in the host program. Symbol tables are never kept or sorted (that of
// an unstripped browser has 100 MB): one pass answers a sorted list of questions.
//
// Calling thread: the drain thread (private heap, raw system calls only).
#ifndef MEMAGENT_AGENT_OS_ELF_FILE_H_
#define MEMAGENT_AGENT_OS_ELF_FILE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "agent/base/containers.h"
#include "agent/os/file.h"

namespace memagent::os {

// Random access to the bytes of a file.
class ByteSource {
 public:
  // Fills all of `out` from `offset`; false when that is not all there.
  virtual bool Read(uint64_t offset, std::span<char> out) = 0;
  virtual uint64_t size_bytes() const = 0;

 protected:
  ~ByteSource() = default;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const char> bytes) : bytes_(bytes) {}
  bool Read(uint64_t offset, std::span<char> out) override;
  uint64_t size_bytes() const override { return bytes_.size(); }

 private:
  std::span<const char> bytes_;
};

// A regular file, read with pread; of size 0 when it can't be opened. Anything but a regular file
// is not even opened: programs map devices, and opening one can have effects. Headers are asked for
// one after the other: the block around the last of them is kept.
class FileSource final : public ByteSource {
 public:
  explicit FileSource(const char* path);
  bool Read(uint64_t offset, std::span<char> out) override;
  uint64_t size_bytes() const override { return size_bytes_; }
  // Which file it is, to compare with /proc/self/maps; 0 when it could not be opened.
  uint64_t inode() const { return inode_; }

 private:
  static constexpr size_t kBlockBytes = 4096;

  bool ReadDirectly(uint64_t offset, std::span<char> out);
  bool HasBlockFor(uint64_t offset, size_t size);

  UniqueFd fd_;
  uint64_t size_bytes_ = 0;
  uint64_t inode_ = 0;
  uint64_t block_start_ = 0;
  size_t block_size_ = 0;
  char block_[kBlockBytes];
};

// A function around an address.
struct FunctionName {
  base::String name;    // not demangled; empty: no symbol covers the address
  uint64_t offset = 0;  // address minus the function's start
};

// A variable or function. Its name is fetched on demand (ElfFile::NameOf): most are never asked
// for.
struct ElfObject {
  uint64_t address = 0;  // thread-local: offset in the module's TLS block
  uint64_t size_bytes = 0;
  uint64_t name_at = 0;  // file offset of the name, and of the end of its string table
  uint64_t name_limit = 0;
};

// ELF addresses [start, end).
struct ElfRange {
  uint64_t start = 0;
  uint64_t end = 0;
  bool operator==(const ElfRange&) const = default;
};

class ElfFile {
 public:
  // nullopt: not an ELF file of this kind, or its headers are damaged. `source` must outlive it.
  static std::optional<ElfFile> Parse(ByteSource& source);

  // The GNU build id, raw bytes; empty when there is none.
  std::string_view build_id() const { return build_id_; }

  // The table of program headers as the file has it; empty when it can't be read any more.
  base::String ProgramHeaders() const;

  // Run-time address minus ELF address, for a mapping of this file; nullopt when no segment is
  // mapped from `file_offset`.
  std::optional<uint64_t> LoadBias(uint64_t mapping_start, uint64_t file_offset,
                                   bool executable) const;

  // One past the last ELF address that a segment takes in memory, .bss included.
  uint64_t MemoryEnd() const;

  // Where the sections that are in memory lie, in the file's order; thread-local .tbss is not.
  base::Vector<ElfRange> Sections() const;

  // Names of the functions around `addresses` (ELF addresses, ascending), in the same order. Takes
  // the symbol that starts last before the address and reaches over it; of several at one start the
  // global one with the plainest name.
  base::Vector<FunctionName> FindFunctions(std::span<const uint64_t> addresses) const;

  // The first of `names` that the file defines as a function, exported or not; empty: none, or the
  // name tables have more than kMaxSearchedBytes.
  static constexpr uint64_t kMaxSearchedBytes = uint64_t{16} << 20;
  std::string_view FindDefined(std::span<const std::string_view> names) const;

  // Functions that have a size, one for each name: a function may have several.
  base::Vector<ElfObject> Functions() const;

  // Variables that have a size, by ascending address; one for each start (as FindFunctions).
  base::Vector<ElfObject> Objects() const;
  base::Vector<ElfObject> ThreadLocals() const;
  base::String NameOf(const ElfObject& object) const;

 private:
  struct Segment {
    uint64_t file_offset = 0;
    uint64_t file_bytes = 0;
    uint64_t memory_bytes = 0;
    uint64_t address = 0;
    bool executable = false;
  };
  struct SymbolTable {
    uint64_t offset = 0;
    uint64_t count = 0;
    uint64_t strings = 0;
    uint64_t strings_end = 0;
  };

  explicit ElfFile(ByteSource& source) : source_(&source) {}
  bool ReadSegments(uint64_t offset, uint32_t count);
  void ReadNotes(uint64_t offset, uint64_t size);
  void ReadSections(uint64_t offset, uint32_t count);
  base::String NameAt(uint64_t offset, uint64_t limit) const;
  bool SectionCovers(uint32_t section, uint64_t address) const;
  base::Vector<ElfObject> ObjectsOfType(unsigned type) const;
  template <typename Visit>
  void ForEachSymbol(Visit visit) const;
  base::OrderedMap<uint64_t, size_t> PlacesOf(std::span<const std::string_view> names,
                                              const SymbolTable& table) const;

  ByteSource* source_;
  base::Vector<Segment> segments_;  // PT_LOAD only
  base::Vector<SymbolTable> tables_;
  uint64_t headers_at_ = 0;  // file offset of the program headers
  uint32_t header_count_ = 0;
  uint64_t sections_at_ = 0;  // file offset of the section headers
  uint32_t section_count_ = 0;
  base::String build_id_;
};

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_ELF_FILE_H_
