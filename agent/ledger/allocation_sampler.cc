#include "agent/ledger/allocation_sampler.h"

namespace memagent::ledger {

uint64_t AllocationSampler::Random() {  // SplitMix64: Steele, Lea, Flood 2014; good from any seed
  uint64_t x = random_ += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

[[gnu::noinline, gnu::cold]] void AllocationSampler::Restart(uint32_t mean) {
  mean_ = mean;
  distance_ = DrawDistance();
}

// J. von Neumann (NBS Applied Mathematics 12, 1951): the fraction u is accepted when the run of
// falling uniforms that starts with it has an odd length; each rejection adds 1 to the whole part.
// Exact without a logarithm, 4.3 uniforms a draw.
int64_t AllocationSampler::DrawDistance() {
  for (int64_t whole = 0;; whole += mean_) {
    const uint64_t fraction = Random();
    uint64_t last = fraction;
    bool odd = true;
    for (uint64_t next = Random(); next < last; next = Random()) {
      last = next;
      odd = !odd;
    }
    if (odd) return whole + static_cast<int64_t>(fraction >> (64 - std::countr_zero(mean_)));
  }
}

}  // namespace memagent::ledger
