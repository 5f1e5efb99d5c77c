// Which memory policy is in force: of a mapping (mbind), or of a thread (set_mempolicy, numactl).
//
// get_mempolicy(MPOL_F_ADDR) tells of a mapping with a policy of its own that one, and of all others
// "default", never the calling thread's (mm/mempolicy.c, do_get_mempolicy). Which thread's policy a page
// of those lies by is for the caller to know: that of the thread that touched it first. Asking makes no
// page present.
//
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_OS_MEMORY_POLICY_H_
#define MEMAGENT_AGENT_OS_MEMORY_POLICY_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/base/bit_mask.h"

namespace memagent::os {

struct MemoryPolicy {
  uint32_t mode = 0;  // MPOL_DEFAULT, MPOL_BIND, ... without flags
  base::BitMask nodes;
  auto operator<=>(const MemoryPolicy&) const = default;
};

// As the calls take it: takes the flags (MPOL_F_STATIC_NODES, ...) off `mode_and_flags`, and calls a
// preference for no node what it is, "local".
MemoryPolicy MakePolicy(uint32_t mode_and_flags, const base::BitMask& nodes);

// "default", "preferred", "bind", "interleave", "local", "preferred_many", "weighted_interleave"; of
// newer ones "unknown".
std::string_view PolicyModeName(uint32_t mode);

// The system call, replaceable by a test: 0 or a negative errno. `mask` has BitMask::kBits bits.
struct PolicyCalls {
  void* context = nullptr;
  long (*get_mempolicy)(void* context, int* mode, uint64_t* mask, uint64_t address,
                        unsigned flags) = nullptr;
};

class PolicyReader {
 public:
  PolicyReader();  // the real system call
  explicit PolicyReader(const PolicyCalls& calls) : calls_(calls) {}

  // Of the mapping around `address`; mode MPOL_DEFAULT: it has none of its own. nullopt: nothing is
  // mapped there, or the kernel refuses to tell.
  std::optional<MemoryPolicy> OfMapping(uint64_t address);
  // Of the calling thread; mode MPOL_DEFAULT: none.
  std::optional<MemoryPolicy> OfThisThread();

  // Why the call was given up, a positive errno; 0: it was not. Then nothing is asked any more.
  int refused() const { return refused_; }

 private:
  std::optional<MemoryPolicy> Ask(uint64_t address, unsigned flags);

  PolicyCalls calls_;
  int refused_ = 0;
};

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_MEMORY_POLICY_H_
