// What was mapped where in one process, by the mmap records of a perf.data file. Pure.
//
// The newest record wins where two overlap: unmapping is never told. One thing is kept apart: the
// kernel joins neighbouring anonymous mappings and then tells the whole of them, so what is told
// anew with the same rights stays the mapping that it was, and only the rest is a new one. Else all
// big arrays of a program would be one. A mapping in the middle of an older one is new.
#ifndef MEMAGENT_VIEWER_IMPORT_ADDRESS_MAP_H_
#define MEMAGENT_VIEWER_IMPORT_ADDRESS_MAP_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/import/side_band.h"

namespace memagent::importer {

// What a mapping's name says of it.
enum class MappingKind : uint8_t {
  kAnonymous,
  kHeap,    // [heap], made by brk
  kStack,   // [stack], of the main thread
  kKernel,  // [vdso] and the like
  kShared,  // System V or POSIX shared memory, memfd, /dev/zero
  kFile,
};

inline constexpr std::string_view kHeapName = "[heap]";

struct MappedFile {
  std::string path;
  MappingKind kind = MappingKind::kAnonymous;
  uint32_t major = 0;
  uint32_t minor = 0;
  uint64_t inode = 0;
  std::string build_id;
};

// Every file that was mapped, once.
class MappedFiles {
 public:
  uint32_t IdOf(const MmapRecord& record);
  const MappedFile& Get(uint32_t id) const { return files_[id]; }

 private:
  std::vector<MappedFile> files_;
  std::map<std::string, uint32_t> ids_;
};

struct Mapping {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t offset = 0;  // in the file
  uint32_t file = 0;    // MappedFiles
  uint32_t id = 0;      // of the mapping, and of what is cut from it
  bool anonymous = false;
  bool executable = false;
  bool writable = false;
  bool shared = false;
};

class AddressMap {
 public:
  // `mapping.id` is new; parts that are known already keep theirs.
  void Insert(const Mapping& mapping);

  // nullptr: nothing is known to be there. Valid until the next Insert.
  const Mapping* Find(uint64_t address) const;
  // The nearest executable mapping of the same file; nullptr if there is none nearby.
  const Mapping* CodeOf(const Mapping& mapping) const;
  // The mapping that ends where this one starts.
  const Mapping* Before(const Mapping& mapping) const;

  size_t size() const { return mappings_.size(); }

 private:
  using Map = std::map<uint64_t, Mapping>;  // by start; no overlaps
  void CutOut(uint64_t start, uint64_t end);
  // The known parts of what a record tells again; empty if it is something new.
  std::vector<Mapping> PartsOf(const Mapping& whole) const;

  Map mappings_;
};

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_ADDRESS_MAP_H_
