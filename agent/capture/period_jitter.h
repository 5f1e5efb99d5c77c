// Varies a sampling period from one interval to the next.
//
// A fixed period locks onto loops: where the loop's length divides it, every sample is of the same
// instruction. So each interval is drawn from the nominal period +- 1/16, as Alpha's ProfileMe
// driver does it (facts: profileme). The mean stays the nominal period: it is what a sample stands
// for.
//
// Pure. Calling thread: any.
#ifndef MEMAGENT_AGENT_CAPTURE_PERIOD_JITTER_H_
#define MEMAGENT_AGENT_CAPTURE_PERIOD_JITTER_H_

#include <cstdint>

namespace memagent::capture {

// The kernel refuses a period with bit 63 set (facts: perf_abi 1.8).
inline constexpr uint64_t kLargestPeriod = INT64_MAX;

// The periods that an engine takes: multiples of `granule` within the bounds.
struct PeriodGrid {
  uint64_t granule = 1;  // not 0
  uint64_t minimum = 1;
  uint64_t maximum = kLargestPeriod;
};

// Low bits must be 0 and the smallest count is 0x90; what is beyond the counter the kernel counts
// itself (facts: perf_abi 2.2).
inline constexpr PeriodGrid kIbsPeriods = {.granule = 16, .minimum = 0x90};
// The low 8 bits are dropped and the counter has 32 (facts: perf_abi 4.1). Before Linux 7.2 the
// kernel rounds up to caps/min_interval: give that as the minimum, or samples stand for more than
// we think.
inline constexpr PeriodGrid kSpePeriods = {.granule = 256, .minimum = 256, .maximum = 0xffff'ff00};

// `nominal` times `factor`, or the largest period where that is too much.
uint64_t ScaledPeriod(uint64_t nominal, uint64_t factor);

// The multiple that `grid` allows next below `nominal`, or the bound that it is beyond.
uint64_t AllowedPeriod(uint64_t nominal, const PeriodGrid& grid);

// A period that `grid` allows, from within 1/16 of `nominal` and at most one granule further. Over
// all `random` (64 random bits) its mean is `nominal`; where a bound is near, the spread shrinks to
// keep that, and a `nominal` beyond a bound becomes the bound.
uint64_t JitteredPeriod(uint64_t nominal, const PeriodGrid& grid, uint64_t random);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_PERIOD_JITTER_H_
