// Whether a site's memory is shared: of two samples in a row in one unit of memory (a cache line, a
// page, a huge page, a block) whether they came from one thread, from one node, and wrote.
//
// For each unit that is watched the last sample is remembered. A site watches all units until it would
// have more than kMaxUnits of one size; then half of them are dropped, chosen by their hash, and only
// others of the kept half are added: what is counted is always a random choice of units with all their
// samples, so that the shares stay what they are. Memory of all sites together is bounded by a
// SharingRoom: where that is used up, a table drops half instead of growing.
//
// A block that is freed and given out again at the same address counts on as the same unit.
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_AGGREGATE_SHARING_H_
#define MEMAGENT_AGENT_AGGREGATE_SHARING_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "agent/base/containers.h"
#include "agent/base/types.h"

namespace memagent::aggregate {

struct SharingCounts {
  uint64_t pairs = 0;
  uint64_t same_thread = 0;
  uint64_t same_node = 0;
  uint64_t other_node_written = 0;  // of those of two nodes: pairs with a store
};

enum class SharingUnit : uint8_t { kLine, kPage, kHugePage, kBlock };
inline constexpr size_t kSharingUnitCount = 4;
// 0: a whole block.
inline constexpr std::array<uint64_t, kSharingUnitCount> kSharingUnitBytes = {
    64, 4096, uint64_t{2} << 20, 0};

// Entries that the tables of all sites may still take, of 16 bytes each.
class SharingRoom {
 public:
  static constexpr size_t kEntries = size_t{1} << 20;
  bool Take(size_t entries) {
    if (entries > left_) return false;
    left_ -= entries;
    return true;
  }
  size_t left() const { return left_; }

 private:
  size_t left_ = kEntries;
};

struct LastAccess {
  uint64_t unit = 0;  // its number plus one; 0: the entry is free
  uint32_t thread = 0;
  NodeId node = NodeId::kUnknown;  // of the CPU
  bool stored = false;
};

// The last sample in each watched unit of one size: open addressing, linear probing.
class LastAccesses {
 public:
  static constexpr size_t kMaxUnits = 4096;

  // Counts the pair of `now` and the sample before it in that unit, and remembers `now`.
  void Note(const LastAccess& now, SharingCounts& counts, SharingRoom& room);

  size_t watched() const { return used_; }

 private:
  static uint64_t Hash(uint64_t unit);
  bool IsWatched(uint64_t hash) const { return hash >> (63 - halvings_) >> 1 == 0; }
  LastAccess& EntryOf(uint64_t unit, uint64_t hash);
  bool MakeRoom(SharingRoom& room);
  void Rebuild(size_t size);

  base::Vector<LastAccess> entries_;  // a power of two, or none
  size_t used_ = 0;
  int halvings_ = 0;
};

// Of one site.
class Sharing {
 public:
  // `block` is where the block begins, 0 when that is not known; of `access` the unit is not set.
  void Note(uint64_t address, uint64_t block, LastAccess access, SharingRoom& room);

  const SharingCounts& Of(SharingUnit unit) const { return counts_[static_cast<size_t>(unit)]; }

 private:
  std::array<LastAccesses, kSharingUnitCount> last_;
  std::array<SharingCounts, kSharingUnitCount> counts_;
};

}  // namespace memagent::aggregate

#endif  // MEMAGENT_AGENT_AGGREGATE_SHARING_H_
