// The 64 bits of perf_mem_data_src (PERF_SAMPLE_DATA_SRC), little endian: where each field is and
// what its values are called. Plain constants, of Linux 7.2; <linux/perf_event.h> of the oldest
// system we build on lacks half of them (source: perf_abi 1.4).
//
// Who wants to know what an access was calls DecodeDataSource() (data_source.h): producers disagree
// on which fields they fill. This is for those who write such words and for comparisons with perf.
#ifndef MEMAGENT_AGENT_DECODE_DATA_SOURCE_BITS_H_
#define MEMAGENT_AGENT_DECODE_DATA_SOURCE_BITS_H_

#include <cstdint>

namespace memagent::decode::mem {

struct Field {
  int shift;
  int width;
  constexpr uint64_t Of(uint64_t bits) const {
    return bits >> shift & ((uint64_t{1} << width) - 1);
  }
  constexpr uint64_t Put(uint64_t value) const { return value << shift; }
};

inline constexpr Field kOp = {0, 5};      // bits of op::
inline constexpr Field kLevel = {5, 14};  // bits of level::, "being deprecated" since 4.14
inline constexpr Field kSnoop = {19, 5};  // bits of snoop::
inline constexpr Field kLock = {24, 2};   // bits of lock::
inline constexpr Field kTlb = {26, 7};    // bits of tlb::
inline constexpr Field kNumber = {
    33, 4};  // a number of number::; 0: written before 4.14, or AMD on 6.1
inline constexpr Field kRemote = {37, 1};   // 1: remote
inline constexpr Field kSnoopX = {38, 2};   // bits of snoopx::
inline constexpr Field kBlocked = {40, 3};  // bits of blocked::
inline constexpr Field kHops = {43, 3};     // a number of hops::; 0: not told
inline constexpr Field kRegion = {46, 5};   // a number of region::, since 7.2; reserved before

namespace op {
inline constexpr uint64_t kNa = 1, kLoad = 2, kStore = 4, kPrefetch = 8, kExecute = 0x10;
}
namespace level {
inline constexpr uint64_t kNa = 1, kHit = 2, kMiss = 4, kL1 = 8, kLfb = 0x10, kL2 = 0x20,
                          kL3 = 0x40, kLocalRam = 0x80, kRemoteRam1 = 0x100, kRemoteRam2 = 0x200,
                          kRemoteCache1 = 0x400, kRemoteCache2 = 0x800, kIo = 0x1000,
                          kUncached = 0x2000;
}
namespace snoop {
inline constexpr uint64_t kNa = 1, kNone = 2, kHit = 4, kMiss = 8, kHitM = 0x10;
}
namespace lock {
inline constexpr uint64_t kNa = 1, kLocked = 2;
}
namespace tlb {
inline constexpr uint64_t kNa = 1, kHit = 2, kMiss = 4, kL1 = 8, kL2 = 0x10, kWalker = 0x20,
                          kFault = 0x40;
}
namespace number {
inline constexpr uint64_t kAbsent = 0, kL1 = 1, kL2 = 2, kL3 = 3, kL4 = 4, kL2Mhb = 5, kMsc = 6,
                          kL0 = 7, kUncached = 8, kCxl = 9, kIo = 0xa, kAnyCache = 0xb, kLfb = 0xc,
                          kRam = 0xd, kPmem = 0xe, kNa = 0xf;
}
namespace snoopx {
inline constexpr uint64_t kForward = 1, kPeer = 2;
}
namespace blocked {
inline constexpr uint64_t kNa = 1, kData = 2, kAddress = 4;
}
namespace hops {
// kCore: another core of the same node. kNode: another node of the same socket, which is also what
// AMD says of any other node. kSocket: another socket of the board. kBoard: another board.
inline constexpr uint64_t kAbsent = 0, kCore = 1, kNode = 2, kSocket = 3, kBoard = 4;
}  // namespace hops
namespace region {
// kLocal*: this caching agent's cache. kOther*: another's. kMemory0 + n: memory of region n.
inline constexpr uint64_t kNa = 0, kReserved = 1, kLocalShared = 2, kLocalNonShared = 3,
                          kOtherIo = 4, kOtherShared = 5, kOtherNonShared = 6, kMmio = 7,
                          kMemory0 = 8;
}  // namespace region

}  // namespace memagent::decode::mem

#endif  // MEMAGENT_AGENT_DECODE_DATA_SOURCE_BITS_H_
