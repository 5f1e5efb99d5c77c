// The process's mappings as /proc/self/maps lists them: what an address is when no hook saw it made
// (libraries, thread stacks, memory that libc maps for itself).
//
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_ATTRIBUTE_ADDRESS_SPACE_H_
#define MEMAGENT_AGENT_ATTRIBUTE_ADDRESS_SPACE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/base/containers.h"
#include "agent/base/types.h"

namespace memagent::attribute {

enum class MappingKind : uint8_t {
  kAnonymous,  // no name: heaps, stacks, .bss
  kHeap,       // [heap]
  kMainStack,  // [stack]
  kFile,       // a file's pages; libraries too
  kShared,     // System V or POSIX shared memory, memfd, /dev/zero shared
  kKernel,     // [vdso], [vvar], [vsyscall]
};

struct MappedRange {
  uint64_t start = 0;
  uint64_t end = 0;
  MappingKind kind = MappingKind::kAnonymous;
  bool executable = false;
  uint32_t path = 0;  // index for PathOf; 0: none
};

class AddressSpace {
 public:
  AddressSpace() { paths_.push_back({}); }

  // Replaces the list by what `maps_text` says. Pure.
  void Load(std::string_view maps_text);

  std::optional<MappedRange> Find(uint64_t address) const;
  // The range at `address`, or else the next one above it.
  std::optional<MappedRange> FindFrom(uint64_t address) const;
  std::string_view PathOf(const MappedRange& range) const { return paths_[range.path]; }

 private:
  uint32_t PathIndex(std::string_view path);

  base::Vector<MappedRange> ranges_;  // ascending
  base::Vector<base::String>
      paths_;  // a library's mappings stand together: the last one is tried first
};

}  // namespace memagent::attribute

#endif  // MEMAGENT_AGENT_ATTRIBUTE_ADDRESS_SPACE_H_
