#include "agent/capture/period_jitter.h"

#include <algorithm>

namespace memagent::capture {
namespace {

// A spread of a large period times 64 random bits does not fit into 64.
__extension__ using Wide = unsigned __int128;

constexpr uint64_t kSpreadDivisor = 16;

// The outermost multiples of the granule that a rule allows.
struct Bounds {
  uint64_t lowest = 0;
  uint64_t highest = 0;
};

Bounds BoundsOf(const PeriodGrid& grid) {
  const uint64_t granule = grid.granule;
  const uint64_t highest = std::min(grid.maximum, kLargestPeriod) / granule * granule;
  return {std::min((grid.minimum + granule - 1) / granule * granule, highest), highest};
}

}  // namespace

uint64_t ScaledPeriod(uint64_t nominal, uint64_t factor) {
  const Wide product = Wide{nominal} * factor;
  return product > kLargestPeriod ? kLargestPeriod : static_cast<uint64_t>(product);
}

uint64_t AllowedPeriod(uint64_t nominal, const PeriodGrid& grid) {
  const auto [lowest, highest] = BoundsOf(grid);
  return std::clamp(nominal / grid.granule * grid.granule, lowest, highest);
}

uint64_t JitteredPeriod(uint64_t nominal, const PeriodGrid& grid, uint64_t random) {
  const uint64_t granule = grid.granule;
  const auto [lowest, highest] = BoundsOf(grid);
  const uint64_t center = std::clamp(nominal, lowest, highest);
  const uint64_t spread = std::min({center / kSpreadDivisor, center - lowest, highest - center});
  // The upper half of the product is uniform over the spread; the lower half is random as well, for
  // the factor is odd, and serves to round up or down by chance: rounding to the nearest would move
  // the mean.
  const Wide drawn = Wide{random} * (2 * spread + 1);
  const uint64_t exact = center - spread + static_cast<uint64_t>(drawn >> 64);
  const Wide rounding = Wide{static_cast<uint64_t>(drawn)} * granule;
  return (exact + static_cast<uint64_t>(rounding >> 64)) / granule * granule;
}

}  // namespace memagent::capture
