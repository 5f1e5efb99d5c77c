#include "agent/attribute/address_space.h"

#include <algorithm>

#include "agent/os/proc_maps.h"

namespace memagent::attribute {
namespace {

bool IsSharedMemory(std::string_view path) {
  return path.starts_with("/SYSV") || path.starts_with("/dev/shm/") ||
         path.starts_with("/memfd:") || path.starts_with("/dev/zero");
}

MappingKind KindOf(const os::Mapping& mapping) {
  const std::string_view path = mapping.path;
  // MAP_HUGETLB memory has a file of the kernel's own behind it (mm/hugetlb.c: HUGETLB_ANON_FILE).
  if (path.empty() || path.starts_with("[anon") || path.starts_with("/anon_hugepage")) {
    return MappingKind::kAnonymous;
  }
  if (path == "[heap]") return MappingKind::kHeap;
  if (path.starts_with("[stack")) return MappingKind::kMainStack;
  if (path.front() == '[') return MappingKind::kKernel;
  return IsSharedMemory(path) ? MappingKind::kShared : MappingKind::kFile;
}

// The agent's rings come and go with threads: where one was at the last look, a new thread's stack
// may be now. No program's data is in such a mapping.
bool IsPerfRing(const os::Mapping& mapping) { return mapping.path == "anon_inode:[perf_event]"; }

}  // namespace

uint32_t AddressSpace::PathIndex(std::string_view path) {
  if (path.empty()) return 0;
  if (paths_.back() != path) paths_.emplace_back(path);
  return static_cast<uint32_t>(paths_.size() - 1);
}

void AddressSpace::Load(std::string_view maps_text) {
  ranges_.clear();
  paths_.resize(1);
  os::ForEachMapping(maps_text, [this](const os::Mapping& mapping) {
    if (IsPerfRing(mapping)) return;
    ranges_.push_back(
        {mapping.start, mapping.end, KindOf(mapping), mapping.executable, PathIndex(mapping.path)});
  });
}

std::optional<MappedRange> AddressSpace::FindFrom(uint64_t address) const {
  const auto it =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](uint64_t a, const MappedRange& range) { return a < range.end; });
  if (it == ranges_.end()) return std::nullopt;
  return *it;
}

std::optional<MappedRange> AddressSpace::Find(uint64_t address) const {
  const std::optional<MappedRange> range = FindFrom(address);
  return range && range->start <= address ? range : std::nullopt;
}

}  // namespace memagent::attribute
