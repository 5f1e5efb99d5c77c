// Memory that the program mapped itself (mmap, brk, shmat), by address and time.
//
// Fed with the hooks' region events in time order. A region that is unmapped stays known until
// every sample of its lifetime has been attributed. Overlays, partial unmaps and moves split and
// trim (pitfalls P64); what went by a call that no hook saw is found by a look at the kernel's list
// (P65). Calling thread: the drain thread; pure but for its own memory.
#ifndef MEMAGENT_AGENT_ATTRIBUTE_REGION_INDEX_H_
#define MEMAGENT_AGENT_ATTRIBUTE_REGION_INDEX_H_

#include <cstdint>
#include <optional>

#include "agent/attribute/address_space.h"
#include "agent/base/containers.h"
#include "agent/ledger/thread_record.h"

namespace memagent::attribute {

struct Region {
  uint64_t start = 0;
  uint64_t end = 0;
  SiteId site = SiteId::kUnknown;
  RegionKind kind = RegionKind::kUnknown;
  uint64_t born_tsc = 0;
  uint64_t died_tsc = ~uint64_t{0};
  uint64_t mapping = 0;  // which call made it: the pieces of a split mapping share it
};

// What the events did to a site, for its counters (the hooks can't know what an unmap hits).
// A mapping that was split counts as freed once, with its last piece.
struct RegionCounts {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t bytes_allocated = 0;
  uint64_t bytes_freed = 0;
  uint64_t bytes_peak = 0;
  // Of a child of fork: what was live at the fork, and is not among the allocations.
  uint64_t inherited_blocks = 0;
  uint64_t inherited_bytes = 0;
  // A site that was never used is not written.
  bool any() const { return allocations != 0 || inherited_blocks != 0; }
};

class RegionIndex {
 public:
  void Apply(const ledger::RegionEvent& event);

  // The region that covered `address` at `tsc`.
  std::optional<Region> Find(uint64_t address, uint64_t tsc) const;

  // Ends what `space`, read at `read_tsc`, no longer lists. Events of that time may still be to
  // come.
  void KeepMapped(const AddressSpace& space, uint64_t read_tsc);

  // Drops regions that were gone before `settled_tsc`.
  void ForgetBefore(uint64_t settled_tsc);

  // By site; sites of file mappings are not counted.
  const base::HashMap<uint32_t, RegionCounts>& counts() const { return counts_; }

 private:
  void Insert(const Region& region);
  RegionKind KindAt(uint64_t address, RegionKind otherwise) const;
  // Ends what was mapped in [start, end) at `tsc`; what sticks out of it lives on.
  void Remove(uint64_t start, uint64_t end, uint64_t tsc);
  // Cuts [start, end) out of the live region `old`, which overlaps it.
  void Cut(const Region& old, uint64_t start, uint64_t end, uint64_t tsc);
  void RemoveWhole(uint64_t start, uint64_t tsc);
  void CountMapped(const Region& region);
  // `pieces_left`: 0, 1 or 2 pieces of what was one.
  void CountUnmapped(const Region& region, uint64_t bytes, int pieces_left);

  base::OrderedMap<uint64_t, Region> live_;  // by start, never overlapping
  base::Vector<Region> dead_;
  base::HashMap<uint32_t, RegionCounts> counts_;
  base::HashMap<uint64_t, uint64_t> extra_pieces_;  // by mapping, of those that are split
  uint64_t mappings_ = 0;
};

}  // namespace memagent::attribute

#endif  // MEMAGENT_AGENT_ATTRIBUTE_REGION_INDEX_H_
