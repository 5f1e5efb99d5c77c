#include "agent/decode/data_source.h"

#include <array>

#include "agent/decode/data_source_bits.h"

namespace memagent::decode {
namespace {

// A table from bits to meanings: the first row with any of its bits set decides.
template <typename T>
struct BitMeaning {
  uint64_t bits;
  T meaning;
};

template <typename T, size_t kRows>
constexpr T FirstOf(const std::array<BitMeaning<T>, kRows>& table, uint64_t bits) {
  for (const BitMeaning<T>& row : table) {
    if ((row.bits & bits) != 0) return row.meaning;
  }
  return T{};
}

// A read-modify-write that is both counts as a load, as IBS and perf have it.
constexpr std::array<BitMeaning<MemoryOp>, 4> kOps = {{
    {mem::op::kLoad, MemoryOp::kLoad},
    {mem::op::kStore, MemoryOp::kStore},
    {mem::op::kPrefetch, MemoryOp::kPrefetch},
    {mem::op::kExecute, MemoryOp::kExecute},
}};

// L3 before the caches: AMD before Zen 4 on Linux 6.1 sets L3 and "remote cache, 1 hop".
constexpr std::array<BitMeaning<MemoryLevel>, 9> kLevelBits = {{
    {mem::level::kIo, MemoryLevel::kIo},
    {mem::level::kUncached, MemoryLevel::kUncached},
    {mem::level::kL1, MemoryLevel::kL1},
    {mem::level::kLfb, MemoryLevel::kLineFillBuffer},
    {mem::level::kL2, MemoryLevel::kL2},
    {mem::level::kL3, MemoryLevel::kL3},
    {mem::level::kLocalRam, MemoryLevel::kDram},
    {mem::level::kRemoteRam1 | mem::level::kRemoteRam2, MemoryLevel::kDram},
    {mem::level::kRemoteCache1 | mem::level::kRemoteCache2, MemoryLevel::kPeerCache},
}};

// By mem_lvl_num. L2's miss handling buffer is a fill buffer as well; L0 is what Panther Cove calls
// the cache in front of its L1 (perf_abi 3.4).
constexpr std::array<MemoryLevel, 16> kLevelNumbers = {
    MemoryLevel::kUnknown,
    MemoryLevel::kL1,
    MemoryLevel::kL2,
    MemoryLevel::kL3,
    MemoryLevel::kL4,
    MemoryLevel::kLineFillBuffer,
    MemoryLevel::kMemorySideCache,
    MemoryLevel::kL1,
    MemoryLevel::kUncached,
    MemoryLevel::kCxl,
    MemoryLevel::kIo,
    MemoryLevel::kPeerCache,
    MemoryLevel::kLineFillBuffer,
    MemoryLevel::kDram,
    MemoryLevel::kPmem,
    MemoryLevel::kUnknown,
};

constexpr uint64_t kRemoteRam = mem::level::kRemoteRam1 | mem::level::kRemoteRam2;

constexpr MemoryLevel HitLevel(uint64_t bits) {
  const uint64_t level = mem::kLevel.Of(bits);
  const uint64_t number = mem::kNumber.Of(bits);
  if (mem::kRegion.Of(bits) == mem::region::kMmio) return MemoryLevel::kIo;
  if (number == mem::number::kAbsent || number == mem::number::kNa)
    return FirstOf(kLevelBits, level);
  if (number == mem::number::kL3 && (level & kRemoteRam) != 0) return MemoryLevel::kDram;
  if (number == mem::number::kAnyCache && (level & mem::level::kL3) != 0) return MemoryLevel::kL3;
  return kLevelNumbers[number];
}

constexpr MemoryLevel Beyond(MemoryLevel missed) {
  switch (missed) {
    case MemoryLevel::kL1:
    case MemoryLevel::kLineFillBuffer:
      return MemoryLevel::kBeyondL1;
    case MemoryLevel::kL2:
      return MemoryLevel::kBeyondL2;
    case MemoryLevel::kL3:
      return MemoryLevel::kBeyondL3;
    default:
      return MemoryLevel::kUnknown;
  }
}

// Without either bit the level was hit: AMD's persistent memory and CXL have none.
constexpr MemoryLevel LevelOf(uint64_t bits) {
  const uint64_t outcome = mem::kLevel.Of(bits) & (mem::level::kHit | mem::level::kMiss);
  const MemoryLevel level = HitLevel(bits);
  return outcome == mem::level::kMiss ? Beyond(level) : level;
}

constexpr std::array<BitMeaning<Snoop>, 4> kSnoops = {{
    {mem::snoop::kHitM, Snoop::kModified},
    {mem::snoop::kHit, Snoop::kHit},
    {mem::snoop::kMiss, Snoop::kMiss},
    {mem::snoop::kNone, Snoop::kNone},
}};

constexpr Snoop SnoopOf(uint64_t bits) {
  const Snoop snoop = FirstOf(kSnoops, mem::kSnoop.Of(bits));
  if (snoop == Snoop::kModified) return snoop;
  const uint64_t extended = mem::kSnoopX.Of(bits);
  if ((extended & mem::snoopx::kPeer) != 0) return Snoop::kPeer;
  return (extended & mem::snoopx::kForward) != 0 ? Snoop::kForward : snoop;
}

constexpr Locality LocalityOfLevel(MemoryLevel level, Snoop snoop) {
  switch (level) {
    case MemoryLevel::kL1:
    case MemoryLevel::kLineFillBuffer:
    case MemoryLevel::kL2:
      return snoop >= Snoop::kHit ? Locality::kSameNode : Locality::kSameCore;
    case MemoryLevel::kL3:
    case MemoryLevel::kL4:
    case MemoryLevel::kMemorySideCache:
    case MemoryLevel::kDram:
    case MemoryLevel::kPmem:
    case MemoryLevel::kCxl:
      return Locality::kSameNode;
    default:
      return Locality::kUnknown;
  }
}

constexpr Locality LocalityOf(uint64_t bits, MemoryLevel level, Snoop snoop) {
  switch (mem::kHops.Of(bits)) {
    case mem::hops::kCore:
      return Locality::kSameNode;
    case mem::hops::kNode:
      return Locality::kOtherNode;
    case mem::hops::kSocket:
    case mem::hops::kBoard:
      return Locality::kOtherSocket;
    default:
      break;
  }
  if (mem::kRemote.Of(bits) != 0) return Locality::kOtherNode;
  if ((mem::kLevel.Of(bits) & (kRemoteRam | mem::level::kRemoteCache2)) != 0) {
    return Locality::kOtherNode;
  }
  return LocalityOfLevel(level, snoop);
}

// "Walker" beside "hit" is Arm's way to say that the access hit the TLB, at no known level; beside
// "miss" it is a walk (perf_abi 4.5; no other producer sets it).
constexpr TlbLevel TlbOf(uint64_t bits) {
  const uint64_t tlb = mem::kTlb.Of(bits);
  if ((tlb & mem::tlb::kFault) != 0) return TlbLevel::kFault;
  if ((tlb & mem::tlb::kMiss) != 0) {
    return (tlb & (mem::tlb::kL2 | mem::tlb::kWalker)) != 0 ? TlbLevel::kWalk : TlbLevel::kUnknown;
  }
  if ((tlb & mem::tlb::kHit) == 0) return TlbLevel::kUnknown;
  switch (tlb & (mem::tlb::kL1 | mem::tlb::kL2)) {
    case mem::tlb::kL1:
      return TlbLevel::kL1;
    case mem::tlb::kL2:
      return TlbLevel::kL2;
    default:
      return TlbLevel::kL1OrL2;
  }
}

}  // namespace

DataSource DecodeDataSource(uint64_t bits) {
  DataSource source;
  source.op = FirstOf(kOps, mem::kOp.Of(bits));
  source.level = LevelOf(bits);
  source.snoop = SnoopOf(bits);
  source.locality = LocalityOf(bits, source.level, source.snoop);
  source.tlb = TlbOf(bits);
  source.locked = (mem::kLock.Of(bits) & mem::lock::kLocked) != 0;
  source.blocked_data = (mem::kBlocked.Of(bits) & mem::blocked::kData) != 0;
  source.blocked_address = (mem::kBlocked.Of(bits) & mem::blocked::kAddress) != 0;
  source.region = static_cast<uint8_t>(mem::kRegion.Of(bits));
  return source;
}

}  // namespace memagent::decode
