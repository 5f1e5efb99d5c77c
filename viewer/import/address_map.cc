#include "viewer/import/address_map.h"

#include <algorithm>
#include <iterator>

#include "viewer/concat.h"

namespace memagent::importer {
namespace {

// A library has four or five mappings, and sections of a big program may be split by protections.
constexpr int kNeighbours = 8;
// With more parts than that the parts are no big arrays.
constexpr size_t kMostParts = 64;

// As /proc/PID/maps and the kernel's mmap events name them; perf writes "//anon" for no name.
MappingKind KindOf(std::string_view path) {
  // MAP_HUGETLB memory has a file of the kernel's own behind it (mm/hugetlb.c: HUGETLB_ANON_FILE).
  if (path.empty() || path == "//anon" || path.starts_with("[anon") ||
      path.starts_with("/anon_hugepage")) {
    return MappingKind::kAnonymous;
  }
  if (path == kHeapName) return MappingKind::kHeap;
  if (path.starts_with("[stack")) return MappingKind::kStack;
  if (path.front() == '[') return MappingKind::kKernel;
  const bool shared = path.starts_with("/SYSV") || path.starts_with("/dev/shm/") ||
                      path.starts_with("/memfd:") || path.starts_with("/dev/zero");
  return shared ? MappingKind::kShared : MappingKind::kFile;
}

bool SameRights(const Mapping& a, const Mapping& b) {
  return a.executable == b.executable && a.writable == b.writable && a.shared == b.shared;
}

}  // namespace

uint32_t MappedFiles::IdOf(const MmapRecord& record) {
  const std::string key = viewer::Concat(record.path, std::string(1, '\0'), record.major, ":",
                                         record.minor, ":", record.inode, ":", record.build_id);
  const auto [known, fresh] = ids_.emplace(key, static_cast<uint32_t>(files_.size()));
  if (fresh) {
    files_.push_back({record.path, KindOf(record.path), record.major, record.minor, record.inode,
                      record.build_id});
  }
  return known->second;
}

void AddressMap::CutOut(uint64_t start, uint64_t end) {
  auto it = mappings_.upper_bound(start);
  if (it != mappings_.begin() && std::prev(it)->second.end > start) --it;
  while (it != mappings_.end() && it->first < end) {
    const Mapping old = it->second;
    it = mappings_.erase(it);
    if (old.start < start) {
      Mapping left = old;
      left.end = start;
      mappings_.emplace(left.start, left);
    }
    if (old.end > end) {
      Mapping right = old;
      right.start = end;
      right.offset += end - old.start;
      mappings_.emplace(right.start, right);
      return;
    }
  }
}

std::vector<Mapping> AddressMap::PartsOf(const Mapping& whole) const {
  std::vector<Mapping> parts;
  auto it = mappings_.upper_bound(whole.start);
  if (it != mappings_.begin()) --it;
  for (; it != mappings_.end() && it->first < whole.end; ++it) {
    Mapping part = it->second;
    if (part.end <= whole.start || !part.anonymous || !SameRights(part, whole)) continue;
    const bool around = part.start <= whole.start && part.end >= whole.end;
    const bool equal = part.start == whole.start && part.end == whole.end;
    if (around && !equal) return {};  // what was there was unmapped
    part.start = std::max(part.start, whole.start);
    part.end = std::min(part.end, whole.end);
    parts.push_back(part);
    if (parts.size() > kMostParts) return {};
  }
  return parts;
}

void AddressMap::Insert(const Mapping& mapping) {
  std::vector<Mapping> parts;
  if (mapping.anonymous) parts = PartsOf(mapping);
  CutOut(mapping.start, mapping.end);
  uint64_t at = mapping.start;
  const auto add = [&](Mapping piece) { mappings_.insert_or_assign(piece.start, piece); };
  for (size_t i = 0; i <= parts.size(); ++i) {
    const uint64_t gap_end = i < parts.size() ? parts[i].start : mapping.end;
    if (gap_end > at) {
      Mapping gap = mapping;
      gap.start = at;
      gap.end = gap_end;
      gap.offset += at - mapping.start;
      // What grows upwards from where it began stays itself: an arena of the heap.
      if (i == 1 && parts.front().start == mapping.start) {
        gap.start = parts.front().start;
        gap.id = parts.front().id;
      }
      add(gap);
    }
    if (i == parts.size()) break;
    add(parts[i]);
    at = parts[i].end;
  }
}

const Mapping* AddressMap::Find(uint64_t address) const {
  auto it = mappings_.upper_bound(address);
  if (it == mappings_.begin()) return nullptr;
  --it;
  return address < it->second.end ? &it->second : nullptr;
}

const Mapping* AddressMap::CodeOf(const Mapping& mapping) const {
  const auto is_code = [&](const Mapping& other) {
    return other.executable && other.file == mapping.file;
  };
  const auto from = mappings_.find(mapping.start);
  auto below = from;
  for (int i = 0; i < kNeighbours && below != mappings_.end(); ++i) {
    if (is_code(below->second)) return &below->second;
    if (below == mappings_.begin()) break;
    --below;
  }
  auto above = from;
  for (int i = 0; i < kNeighbours && above != mappings_.end(); ++i, ++above) {
    if (is_code(above->second)) return &above->second;
  }
  return nullptr;
}

const Mapping* AddressMap::Before(const Mapping& mapping) const {
  return mapping.start == 0 ? nullptr : Find(mapping.start - 1);
}

}  // namespace memagent::importer
