// From an address and a time to the site it belongs to, or the reason why there is none.
//
//   thread stacks and TLS -> heap blocks -> mapped regions -> libraries' variables -> file mappings
//
// Sites of stacks, variables and files are made here, one for each thread name, variable and path.
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_ATTRIBUTE_ATTRIBUTOR_H_
#define MEMAGENT_AGENT_ATTRIBUTE_ATTRIBUTOR_H_

#include <cstdint>
#include <string_view>

#include "agent/attribute/address_space.h"
#include "agent/attribute/attribution.h"
#include "agent/attribute/block_finder.h"
#include "agent/attribute/region_index.h"
#include "agent/attribute/static_names.h"
#include "agent/attribute/thread_areas.h"
#include "agent/base/containers.h"
#include "agent/ledger/site_table.h"

namespace memagent::attribute {

// A site without a call stack, for the profile.
struct NamedSite {
  SiteId site = SiteId::kUnknown;
  RegionKind kind = RegionKind::kUnknown;
  base::String name;
  uint32_t module = 0;
  uint64_t address = 0;
  uint64_t size_bytes = 0;
};

// When a sample was taken, on the counter that allocations are stamped with.
struct Moment {
  uint64_t tsc = 0;
  uint64_t error_ticks = 0;
};

class Attributor {
 public:
  explicit Attributor(StaticNames& statics) : statics_(statics) {}

  Attribution Attribute(uint64_t address, const Moment& moment);

  void AddThread(uint32_t thread, uint64_t initial_sp, uint64_t thread_pointer, bool main);
  void RemoveThread(uint32_t thread);
  // What the thread's stack is called; a later name wins for sites not yet made.
  void NameThread(uint32_t thread, std::string_view name);

  // Reads /proc/self/maps again. Called when libraries or mappings may have changed.
  void Refresh();

  // Everything before `settled_tsc` has been attributed.
  void ForgetBefore(uint64_t settled_tsc);

  BlockFinder& blocks() { return blocks_; }
  RegionIndex& regions() { return regions_; }
  // In order of creation.
  const base::Vector<NamedSite>& named_sites() const { return named_sites_; }

 private:
  Attribution AttributeOnce(uint64_t address, const Moment& moment);
  Attribution InAnonymous(uint64_t address, const Moment& moment, bool mapped);
  Attribution InArea(const AreaAnswer& area);
  Attribution InFile(uint64_t address, const Moment& moment, const MappedRange& range);
  SiteId SiteNamed(RegionKind kind, std::string_view name, const StaticObject& object);
  // The start of the mapping that is the stack around `address`; `address` itself when not known.
  uint64_t StackStart(uint64_t address) const;
  void LearnStacks();
  bool RefreshAllowed();

  StaticNames& statics_;
  AddressSpace space_;
  ThreadAreas areas_;
  BlockFinder blocks_;
  RegionIndex regions_;
  base::Vector<NamedSite> named_sites_;
  base::HashMap<base::String, SiteId, base::StringHash> site_by_key_;
  base::HashMap<uint32_t, base::String> thread_names_;
  uint64_t next_refresh_ = 0;  // CLOCK_MONOTONIC nanoseconds
};

}  // namespace memagent::attribute

#endif  // MEMAGENT_AGENT_ATTRIBUTE_ATTRIBUTOR_H_
