#include "agent/runtime/site_estimate.h"

#include <algorithm>

namespace memagent::runtime {
namespace {

// The largest that the sum of squared sizes can be, for `blocks` sizes of [low, high] that add up
// to `bytes` (R. Bhatia, C. Davis, American Mathematical Monthly 107, 2000). Equal sizes of half a
// class make it 12.5 % too large, the interval 6 % too wide; a sum of its own would cost the hooks.
double SumOfSquares(double blocks, double bytes, ledger::PickClass how) {
  const double high = static_cast<double>(uint64_t{1} << how.size_log2);
  const double low = how.size_log2 == 0 ? 0 : high / 2 + 1;
  return std::max(0.0, bytes * (low + high) - blocks * low * high);
}

uint64_t Rounded(double value) { return value <= 0 ? 0 : static_cast<uint64_t>(value + 0.5); }

// While threads run on, a free may be seen before its allocation.
uint64_t Difference(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

}  // namespace

// 1 - exp(-x) for x of (0, 1], by its series: the agent has no libm.
double PickProbability(ledger::PickClass how) {
  if (how.certain()) return 1;
  const auto cost = std::max<uint64_t>(uint64_t{1} << how.size_log2, ledger::kLeastCost);
  const double x = static_cast<double>(cost) / static_cast<double>(uint64_t{1} << how.mean_log2);
  double sum = 0;
  double term = x;
  for (int n = 2; n < 20; ++n) {
    sum += term;
    term *= -x / n;
  }
  return sum;
}

void SiteEstimate::Sum::Add(double tracked_blocks, double tracked_bytes, ledger::PickClass how) {
  const double p = PickProbability(how);
  const double error = (1 - p) / (p * p);
  blocks += tracked_blocks / p;
  bytes += tracked_bytes / p;
  blocks_variance += error * tracked_blocks;
  bytes_variance += error * SumOfSquares(tracked_blocks, tracked_bytes, how);
}

void SiteEstimate::Add(const attribute::RegionCounts& tracked, ledger::PickClass how) {
  const auto add = [how](Sum& sum, uint64_t blocks, uint64_t bytes) {
    sum.Add(static_cast<double>(blocks), static_cast<double>(bytes), how);
  };
  const uint64_t born = tracked.inherited_blocks + tracked.allocations;
  const uint64_t born_bytes = tracked.inherited_bytes + tracked.bytes_allocated;
  add(allocated_, tracked.allocations, tracked.bytes_allocated);
  add(freed_, tracked.frees, tracked.bytes_freed);
  add(live_, Difference(born, tracked.frees), Difference(born_bytes, tracked.bytes_freed));
  add(inherited_, tracked.inherited_blocks, tracked.inherited_bytes);
  if (born_bytes != 0) {  // how many blocks were live at the peak is not known: as many as usual
    const double blocks = static_cast<double>(tracked.bytes_peak) * static_cast<double>(born) /
                          static_cast<double>(born_bytes);
    peak_.Add(blocks, static_cast<double>(tracked.bytes_peak), how);
  }
  picked_allocations_ += tracked.allocations;
  picked_frees_ += tracked.frees;
}

SiteCount SiteEstimate::Total(const attribute::RegionCounts& certain) const {
  SiteCount total;
  total.allocations = certain.allocations + Rounded(allocated_.blocks);
  total.frees = certain.frees + Rounded(freed_.blocks);
  total.bytes_allocated = certain.bytes_allocated + Rounded(allocated_.bytes);
  total.bytes_freed = certain.bytes_freed + Rounded(freed_.bytes);
  total.bytes_peak = certain.bytes_peak + Rounded(peak_.bytes);
  total.inherited_blocks = certain.inherited_blocks + Rounded(inherited_.blocks);
  total.inherited_bytes = certain.inherited_bytes + Rounded(inherited_.bytes);
  total.sampled.picked_allocations = picked_allocations_;
  total.sampled.picked_frees = picked_frees_;
  total.sampled.allocations_variance = allocated_.blocks_variance;
  total.sampled.frees_variance = freed_.blocks_variance;
  total.sampled.bytes_allocated_variance = allocated_.bytes_variance;
  total.sampled.bytes_freed_variance = freed_.bytes_variance;
  total.sampled.blocks_live_variance = live_.blocks_variance;
  total.sampled.bytes_live_variance = live_.bytes_variance;
  total.sampled.bytes_peak_variance = peak_.bytes_variance;
  return total;
}

}  // namespace memagent::runtime
