// Which blocks are tracked when not all are: a Poisson process over the bytes that a thread
// allocates, with a mean of `mean` bytes between picks.
//
// A size counts as the next power of two, `cost`, from kLeastCost on, and a block of at least `mean`
// bytes is always tracked. A smaller one is picked with probability p = 1 - exp(-cost / mean),
// independently of all others: the distance to the next pick is exponential, and an exponential has
// no memory, so it may be drawn anew after each pick and whenever the mean changes. What p was must
// be known again when the block is freed, so size and mean are part of the block's site
// (site_table.h); that is why they are powers of two there.
//
// Calling thread: the owner, inside a hook.
#ifndef MEMAGENT_AGENT_LEDGER_ALLOCATION_SAMPLER_H_
#define MEMAGENT_AGENT_LEDGER_ALLOCATION_SAMPLER_H_

#include <atomic>
#include <bit>
#include <cstdint>

namespace memagent::ledger {

// What the smallest block takes from glibc's heap. If blocks of one byte counted as one, the few
// that are picked would stand for so many that no interval of a site with many sizes held.
inline constexpr uint32_t kLeastCost = 32;

// Means are from kLeastCost to 2^20 bytes.
inline constexpr int kMaxMeanLog2 = 20;

// How a tracked block came to be tracked: its size, rounded up, and the mean. Mean 1 means that
// every block is.
struct PickClass {
  uint8_t size_log2 = 0;
  uint8_t mean_log2 = 0;
  bool certain() const { return mean_log2 == 0; }
  bool operator==(const PickClass&) const = default;
};

// The largest mean that was in force in this process or its parents by fork. Once it is over 1, an
// address of no known block may be one that was left out: such blocks live on.
inline constinit std::atomic<uint32_t> largest_mean{1};
inline bool BlocksLeftOut() { return largest_mean.load(std::memory_order_relaxed) > 1; }

class AllocationSampler {
 public:
  // Forgets everything; `seed` may be any number.
  void Seed(uint64_t seed) {
    random_ = seed;
    mean_ = 0;
  }

  // Whether a block of `size` bytes is tracked under `mean`, a power of two.
  bool Picks(uint64_t size, uint32_t mean, PickClass& how) {
    if (size >= mean) return true;
    if (mean != mean_) Restart(mean);
    if (LeavesOut(size, mean)) return false;
    distance_ = DrawDistance();
    how = {static_cast<uint8_t>(std::bit_width(std::bit_ceil(size)) - 1),
           static_cast<uint8_t>(std::countr_zero(mean))};
    return true;
  }

  // Its answer for nearly all small blocks. False: nothing was done, and Picks has to be asked.
  bool LeavesOut(uint64_t size, uint32_t mean) {
    if (size >= mean || mean != mean_) return false;
    const auto cost = static_cast<int64_t>(size <= kLeastCost ? kLeastCost : std::bit_ceil(size));
    if (cost > distance_) return false;
    distance_ -= cost;
    return true;
  }

 private:
  void Restart(uint32_t mean);
  // Whole bytes to the next pick: floor of an exponential with the given mean. A block of `cost`
  // bytes is picked when fewer are left, so flooring keeps the probability exact.
  int64_t DrawDistance();
  uint64_t Random();

  uint64_t random_;
  int64_t distance_;
  uint32_t mean_;  // under which distance_ was drawn; 0: not drawn
};

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_ALLOCATION_SAMPLER_H_
