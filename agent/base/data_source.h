// What hardware says of where an access was served: the vocabulary of all engines. Plain data.
//
// Engines fill it through one decoder, decode/data_source.h; it reaches the profile as numbers, so
// values are never reused and enums only grow (profile.proto has the same).
#ifndef MEMAGENT_AGENT_BASE_DATA_SOURCE_H_
#define MEMAGENT_AGENT_BASE_DATA_SOURCE_H_

#include <cstddef>
#include <cstdint>

namespace memagent {

enum class MemoryOp : uint8_t {
  kUnknown = 0,
  kLoad = 1,
  kStore = 2,
  kPrefetch = 3,
  kExecute = 4,
};
inline constexpr size_t kMemoryOpCount = 5;

// What held the line. Near or far is told by Locality: a remote core's cache is kPeerCache when the
// hardware does not say which level of it.
enum class MemoryLevel : uint8_t {
  kUnknown = 0,
  kL1 = 1,
  kLineFillBuffer = 2,  // on its way already; AMD's MAB, Intel's L2 miss handling buffer
  kL2 = 3,
  kL3 = 4,
  kL4 = 5,
  kMemorySideCache = 6,
  kPeerCache = 7,
  kDram = 8,
  kPmem = 9,
  kCxl = 10,
  kIo = 11,
  kUncached = 12,
  kBeyondL3 = 13,  // missed L3, not known where it was found
  kBeyondL1 = 14,  // missed L1: all that Intel's stores before Sapphire Rapids tell
  kBeyondL2 = 15,
};
inline constexpr size_t kMemoryLevelCount = 16;

enum class Locality : uint8_t {
  kUnknown = 0,
  kSameCore = 1,
  kSameNode = 2,
  kOtherNode = 3,    // another node; the same socket or not told
  kOtherSocket = 4,  // another node, known to be of another socket
};
inline constexpr size_t kLocalityCount = 5;

// Whether another core had the line, and how.
enum class Snoop : uint8_t {
  kUnknown = 0,
  kNone = 1,      // nobody was asked
  kMiss = 2,      // asked, and had it not
  kHit = 3,       // another had it clean
  kModified = 4,  // another had it modified ("HitM")
  kForward = 5,   // another gave it
  kPeer = 6,      // a peer core gave it, clean or modified
};
inline constexpr size_t kSnoopCount = 7;

enum class TlbLevel : uint8_t {
  kUnknown = 0,
  kL1 = 1,
  kL2 = 2,
  kL1OrL2 = 3,
  kWalk = 4,   // missed both; the page table was walked
  kFault = 5,  // the walk ended in the operating system
};

struct DataSource {
  MemoryOp op = MemoryOp::kUnknown;
  MemoryLevel level = MemoryLevel::kUnknown;
  Locality locality = Locality::kUnknown;
  Snoop snoop = Snoop::kUnknown;
  TlbLevel tlb = TlbLevel::kUnknown;
  bool locked = false;
  bool blocked_data = false;     // the load waited for the data of an earlier store
  bool blocked_address = false;  // ... or for its address
  uint8_t region = 0;            // mem_region of Linux 7.2; 0: not told

  bool remote() const { return locality >= Locality::kOtherNode; }
  bool operator==(const DataSource&) const = default;
};

}  // namespace memagent

#endif  // MEMAGENT_AGENT_BASE_DATA_SOURCE_H_
