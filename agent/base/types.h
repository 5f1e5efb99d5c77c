// Strong types and small vocabulary shared by every stage. Plain data, no code.
#ifndef MEMAGENT_AGENT_BASE_TYPES_H_
#define MEMAGENT_AGENT_BASE_TYPES_H_

#include <cstddef>
#include <cstdint>

namespace memagent {

// Index of a call stack in the stack trie (capture/stack_trie.h); 0 is "no stack".
enum class StackId : uint32_t { kNone = 0 };

// Index of an allocation site; 0 is "unknown site". At most 22 bits (capture/shadow_map.h).
enum class SiteId : uint32_t { kUnknown = 0 };

// NUMA node number as the kernel counts; kUnknown when no rung of the ladder could tell.
enum class NodeId : int16_t { kUnknown = -1 };

// Kernel thread id.
using Tid = int32_t;

// Time in CLOCK_MONOTONIC nanoseconds: the one clock of samples, allocations and profile.
using Nanos = uint64_t;

// How a sampled data address was obtained (docs/GLOSSARY.md, "Evidence").
enum class Evidence : uint8_t {
  kNone = 0,         // the instruction did not access memory
  kExact = 1,        // every register the address needs is provably unmodified, or hardware gave it
  kApproximate = 2,  // the address of another instance of the same instruction (next iteration)
  kPcOnly = 3,       // the instruction accesses memory, its address is lost; at best its base is known
};
inline constexpr size_t kEvidenceCount = 4;

// What kind of memory a site stands for.
enum class RegionKind : uint8_t {
  kUnknown = 0,
  kHeap = 1,
  kMmap = 2,
  kGlobal = 3,
  kTls = 4,
  kStack = 5,
  kFile = 6,
  kBrk = 7,
  kShm = 8,
};

enum class EngineKind : uint8_t {
  kNone = 0,
  kIbs = 1,
  kPebs = 2,
  kSpe = 3,
  kSoftware = 4,
  kProfileMe = 5,
};
inline constexpr size_t kEngineKindCount = 6;

}  // namespace memagent

#endif  // MEMAGENT_AGENT_BASE_TYPES_H_
