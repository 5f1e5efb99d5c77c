// How Linux 7.2 turns what Intel's PEBS says of an access into perf_mem_data_src (source: perf_abi
// 3.4). For tests only: on a real machine the kernel does it.
#ifndef MEMAGENT_TESTS_SUPPORT_PEBS_DATA_SOURCE_H_
#define MEMAGENT_TESTS_SUPPORT_PEBS_DATA_SOURCE_H_

#include <cstdint>
#include <map>
#include <optional>

#include "agent/decode/data_source_bits.h"

namespace memagent::testing {

// Parts by the table that the kernel uses for them. kSandyBridge: to Broadwell. kSkylakeServer: to
// Granite Rapids. kCrestmont: Skymont and Darkmont too. kMissOfL2: Panther Cove and Arctic Wolf,
// when L2 was missed.
enum class PebsTable {
  kNehalem,
  kSandyBridge,
  kSkylakeClient,
  kSkylakeServer,
  kGracemont,
  kCrestmont,
  kLionCove,
  kPantherCove,
  kArcticWolf,
  kMissOfL2,
};

struct PebsStatus {
  unsigned source = 0;
  bool tlb_miss = false;  // of the second level
  bool locked = false;
  bool blocked_data = false;
  bool blocked_address = false;
};

// The source of kMissOfL2.
struct PebsMissOfL2 {
  unsigned source = 0;  // four bits
  bool remote = false;
  bool modified = false;
  bool snooped = false;
  bool promoted = false;
};

namespace pebs_internal {

namespace mem = decode::mem;

constexpr uint64_t Snoop(uint64_t bits) { return mem::kSnoop.Put(bits); }
constexpr uint64_t kRemoteBit = mem::kRemote.Put(1);
constexpr uint64_t kForward = mem::kSnoopX.Put(mem::snoopx::kForward);
constexpr uint64_t kNoSnoop = mem::kSnoop.Put(mem::snoop::kNone);
constexpr uint64_t kNoSnoopOrMiss = Snoop(mem::snoop::kNone | mem::snoop::kMiss);

// `level` are bits beside "hit"; `rest` is snoop, distance and region.
constexpr uint64_t Hit(uint64_t level, uint64_t number, uint64_t rest) {
  return mem::kLevel.Put(mem::level::kHit | level) | mem::kNumber.Put(number) | rest;
}
constexpr uint64_t L3(uint64_t snoop) { return Hit(mem::level::kL3, mem::number::kL3, snoop); }
constexpr uint64_t L2(uint64_t snoop) { return Hit(mem::level::kL2, mem::number::kL2, snoop); }

constexpr uint64_t kL1 = Hit(mem::level::kL1, mem::number::kL1, kNoSnoop);
constexpr uint64_t kLfb = Hit(mem::level::kLfb, mem::number::kLfb, kNoSnoop);
constexpr uint64_t kUncached = Hit(mem::level::kUncached, mem::number::kNa, kNoSnoop);
constexpr uint64_t kReserved = mem::kNumber.Put(mem::number::kNa) | Snoop(mem::snoop::kNa);
constexpr uint64_t kNotAvailable = kReserved | mem::kLevel.Put(mem::level::kNa);
constexpr uint64_t kUnknownMiss = mem::kLevel.Put(mem::level::kMiss) |
                                  mem::kNumber.Put(mem::number::kL3) | Snoop(mem::snoop::kNa);

using Rows = std::map<unsigned, uint64_t>;

inline Rows With(Rows base, const Rows& changes) {
  for (const auto& [source, word] : changes) base[source] = word;
  return base;
}

inline const Rows& SandyBridge() {
  static const Rows rows = {
      {0x0, kUnknownMiss},
      {0x1, kL1},
      {0x2, kLfb},
      {0x3, L2(kNoSnoop)},
      {0x4, L3(kNoSnoop)},
      {0x5, L3(Snoop(mem::snoop::kMiss))},
      {0x6, L3(Snoop(mem::snoop::kHit))},
      {0x7, L3(Snoop(mem::snoop::kHitM))},
      {0x8, Hit(mem::level::kRemoteCache1, mem::number::kL3, kRemoteBit | Snoop(mem::snoop::kHit))},
      {0x9,
       Hit(mem::level::kRemoteCache1, mem::number::kL3, kRemoteBit | Snoop(mem::snoop::kHitM))},
      {0xa, Hit(mem::level::kLocalRam, mem::number::kRam, Snoop(mem::snoop::kHit))},
      // Remote memory with the number of L3: the kernel's quirk.
      {0xb, Hit(mem::level::kRemoteRam1, mem::number::kL3, kRemoteBit | Snoop(mem::snoop::kHit))},
      {0xc, Hit(mem::level::kLocalRam, mem::number::kRam, kNoSnoopOrMiss)},
      {0xd, Hit(mem::level::kRemoteRam1, mem::number::kRam, kRemoteBit | kNoSnoopOrMiss)},
      {0xe, Hit(mem::level::kIo, mem::number::kNa, kNoSnoop)},
      {0xf, kUncached},
  };
  return rows;
}

inline Rows Skylake(uint64_t far_level) {
  const uint64_t hit = Snoop(mem::snoop::kHit);
  return With(SandyBridge(),
              {{0x8, Hit(0, far_level, hit)},
               {0x9, Hit(0, far_level, kRemoteBit | hit)},
               {0xb, Hit(0, mem::number::kRam, kRemoteBit | kNoSnoop)},
               {0xc, Hit(0, mem::number::kAnyCache, kRemoteBit | kForward)},
               {0xd, Hit(0, mem::number::kAnyCache, kRemoteBit | Snoop(mem::snoop::kHitM))}});
}

inline Rows Crestmont() {
  return With(SandyBridge(),
              {{0x7, L3(kForward)},
               {0x8, L3(Snoop(mem::snoop::kHitM))},
               {0xa, Hit(mem::level::kLocalRam, mem::number::kRam, kNoSnoop)},
               {0xb, Hit(0, mem::number::kRam, kRemoteBit | kNoSnoop)},
               {0xc, Hit(0, mem::number::kRam, kRemoteBit | kForward)},
               {0xd, Hit(0, mem::number::kRam, kRemoteBit | Snoop(mem::snoop::kHitM))}});
}

inline Rows LionCove() {
  return {{0x0, kUnknownMiss},
          {0x1, kL1},
          {0x2, kL1},
          {0x3, kLfb},
          {0x5, L2(kNoSnoop)},
          {0x6, Hit(0, mem::number::kL2Mhb, kNoSnoop)},
          {0x8, L3(kNoSnoop)},
          {0xc, L3(kForward)},
          {0xd, L3(Snoop(mem::snoop::kHitM))},
          {0xf, mem::kLevel.Put(mem::level::kMiss | mem::level::kL3) |
                    mem::kNumber.Put(mem::number::kL3) | Snoop(mem::snoop::kHitM)},
          {0x10, Hit(0, mem::number::kMsc, kNoSnoop)},
          {0x11, Hit(mem::level::kLocalRam, mem::number::kRam, kNoSnoop)}};
}

inline Rows PantherCove() {
  return {{0x0, kNotAvailable},
          {0x1, Hit(0, mem::number::kL0, kNoSnoop)},
          {0x2, kL1},
          {0x3, kLfb},
          {0x4, L2(kNoSnoop)},
          {0x7, L2(Snoop(mem::snoop::kHit))},
          {0x8, L2(Snoop(mem::snoop::kHitM))},
          {0x9, L2(kNoSnoop)},
          {0xa, L2(kNoSnoop)},
          {0xf, kUncached}};
}

inline Rows ArcticWolf() {
  return {{0x0, kNotAvailable},
          {0x1, kL1},
          {0x2, kLfb},
          {0x3, L2(kNoSnoop)},
          {0x4, L2(Snoop(mem::snoop::kHit))},
          {0x5, L2(Snoop(mem::snoop::kHitM))},
          {0x6, kUncached}};
}

inline Rows RowsOf(PebsTable table) {
  const uint64_t hit = Snoop(mem::snoop::kHit);
  const uint64_t modified = Snoop(mem::snoop::kHitM);
  switch (table) {
    case PebsTable::kNehalem:
      return With(SandyBridge(), {{0x5, L3(hit)}, {0x6, L3(modified)}, {0x7, L3(modified)}});
    case PebsTable::kSandyBridge:
      return SandyBridge();
    case PebsTable::kSkylakeClient:
      return Skylake(mem::number::kL4);
    case PebsTable::kSkylakeServer:
      return Skylake(mem::number::kPmem);
    case PebsTable::kGracemont:
      return With(SandyBridge(), {{0x5, L3(hit)}, {0x6, L3(modified)}, {0x8, L3(kForward)}});
    case PebsTable::kCrestmont:
      return Crestmont();
    case PebsTable::kLionCove:
      return LionCove();
    case PebsTable::kPantherCove:
      return PantherCove();
    case PebsTable::kArcticWolf:
      return ArcticWolf();
    case PebsTable::kMissOfL2:
      break;
  }
  return {};
}

// How the bits beside the source change the snoop of a shared cache: this agent's, another's.
inline uint64_t SharedCacheSnoop(const PebsMissOfL2& miss) {
  if (miss.modified) return Snoop(mem::snoop::kHitM);
  if (miss.snooped) return Snoop(miss.promoted ? mem::snoop::kNone : mem::snoop::kMiss);
  return Snoop(miss.promoted ? mem::snoop::kHit : mem::snoop::kNa);
}
inline uint64_t OtherCacheSnoop(const PebsMissOfL2& miss) {
  return Snoop(miss.modified ? mem::snoop::kHitM : mem::snoop::kHit) |
         (miss.snooped ? kForward : 0);
}

inline uint64_t PlaceOfMiss(const PebsMissOfL2& miss) {
  const uint64_t distance = miss.remote ? kRemoteBit : 0;
  if (miss.source == 0) {
    return distance | mem::kLevel.Put(mem::level::kNa) | mem::kNumber.Put(mem::number::kNa) |
           Snoop(mem::snoop::kNa | mem::snoop::kNone);
  }
  if (miss.source == 1) return distance | kNoSnoop;
  const uint64_t where = distance | mem::kRegion.Put(miss.source);
  if (miss.source < mem::region::kMmio) {
    uint64_t snoop = Snoop(mem::snoop::kHit);
    if (miss.source == mem::region::kLocalShared) snoop = SharedCacheSnoop(miss);
    if (miss.source == mem::region::kOtherShared) snoop = OtherCacheSnoop(miss);
    const uint64_t far = miss.remote ? mem::level::kRemoteCache1 : 0;
    return Hit(mem::level::kL3 | far, mem::number::kL3, where | snoop);
  }
  const uint64_t ram = miss.remote ? mem::level::kRemoteRam1 : mem::level::kLocalRam;
  return Hit(miss.source == mem::region::kMmio ? 0 : ram, mem::number::kRam, where | kNoSnoop);
}

inline uint64_t Finish(uint64_t op, uint64_t place, const PebsStatus& status) {
  const uint64_t blocked = (status.blocked_data ? mem::blocked::kData : 0) |
                           (status.blocked_address ? mem::blocked::kAddress : 0);
  return mem::kOp.Put(op) | place |
         mem::kTlb.Put(status.tlb_miss ? mem::tlb::kL2 | mem::tlb::kMiss
                                       : mem::tlb::kL1 | mem::tlb::kL2 | mem::tlb::kHit) |
         mem::kLock.Put(status.locked ? mem::lock::kLocked : 0) |
         mem::kBlocked.Put(blocked != 0 ? blocked : mem::blocked::kNa);
}

}  // namespace pebs_internal

// Loads with a latency threshold; `store`: stores of Sapphire Rapids and later, of the small cores
// and of Lion Cove, which have the same tables.
inline uint64_t PebsDataSource(PebsTable table, const PebsStatus& status, bool store = false) {
  namespace mem = decode::mem;
  const pebs_internal::Rows rows = pebs_internal::RowsOf(table);
  const auto row = rows.find(status.source);
  const uint64_t place = row == rows.end() ? pebs_internal::kReserved : row->second;
  const uint64_t op = store ? mem::op::kStore : mem::op::kLoad;
  if (table != PebsTable::kNehalem) return pebs_internal::Finish(op, place, status);
  // Nehalem and Westmere tell neither TLB nor lock.
  return mem::kOp.Put(op) | place | mem::kTlb.Put(mem::tlb::kNa) | mem::kLock.Put(mem::lock::kNa);
}

inline uint64_t PebsMissDataSource(const PebsMissOfL2& miss) {
  return pebs_internal::Finish(decode::mem::op::kLoad, pebs_internal::PlaceOfMiss(miss), {});
}

// Sandy Bridge's and Ivy Bridge's stores.
inline uint64_t PebsPreciseStore(bool l1_hit, bool tlb_miss, bool locked) {
  namespace mem = decode::mem;
  return mem::kOp.Put(mem::op::kStore) |
         mem::kLevel.Put(mem::level::kL1 | (l1_hit ? mem::level::kHit : mem::level::kMiss)) |
         mem::kSnoop.Put(mem::snoop::kNa) |
         mem::kTlb.Put(mem::tlb::kL2 | (tlb_miss ? mem::tlb::kMiss : mem::tlb::kHit)) |
         mem::kLock.Put(locked ? mem::lock::kLocked : 0);
}

// Haswell to Ice Lake: events that come with an address but without a source. `l1_hit` of stores.
inline uint64_t PebsAddressOnly(bool store, std::optional<bool> l1_hit) {
  namespace mem = decode::mem;
  uint64_t level = mem::level::kNa;
  if (l1_hit) level = mem::level::kL1 | (*l1_hit ? mem::level::kHit : mem::level::kMiss);
  return mem::kOp.Put(store ? mem::op::kStore : mem::op::kLoad) | mem::kLevel.Put(level) |
         mem::kSnoop.Put(mem::snoop::kNa) | mem::kTlb.Put(mem::tlb::kNa) |
         mem::kLock.Put(mem::lock::kNa) | mem::kNumber.Put(mem::number::kNa);
}

}  // namespace memagent::testing

#endif  // MEMAGENT_TESTS_SUPPORT_PEBS_DATA_SOURCE_H_
