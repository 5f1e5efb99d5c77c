// Turns TSC ticks (hot code reads those) into CLOCK_MONOTONIC nanoseconds (the kernel stamps
// samples with those), and back, with a stated error.
//
// The two clocks drift: the kernel slews CLOCK_MONOTONIC (NTP, up to 500 ppm) and the TSC's nominal
// rate is a guess. So the drain thread takes a pair (ticks, nanoseconds) at every tick of its own,
// and a time between two pairs is interpolated. Take the pair after the rings have been read and
// before they are decoded: then nothing has to be extrapolated.
//
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_OS_CLOCK_H_
#define MEMAGENT_AGENT_OS_CLOCK_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "agent/base/types.h"
#include "agent/os/machine.h"

namespace memagent::os {

// CLOCK_MONOTONIC and CLOCK_REALTIME by raw system call.
Nanos MonotonicNanos();
Nanos UnixNanos();

// CPU time of the calling thread and of the whole process, by raw system call (0.2 to 0.5 us).
uint64_t ThreadCpuNanos();
uint64_t ProcessCpuNanos();

// One moment on both clocks. The true tick of `nanos` is within half_width_ticks of `ticks`.
struct ClockPair {
  uint64_t ticks = 0;
  Nanos nanos = 0;
  uint64_t half_width_ticks = 0;
};

// The tightest of `tries` clock_gettime calls bracketed by TSC reads. About 0.2 us for each try.
ClockPair TakeClockPair(int tries = 8);

class TscClock {
 public:
  // Pairs kept for interpolation: 2.5 s at a drain tick of 10 ms. Older times are extrapolated.
  static constexpr size_t kKept = 256;

  // Takes a pair now; every drain tick. The first call waits 1 ms for a first slope.
  void Calibrate();

  // Adds a pair taken elsewhere (tests). One that is not after the last on both clocks, or much
  // looser than the last and less than a second younger, is ignored.
  void AddPair(const ClockPair& pair);

  // Both need two pairs; 0 before.
  Nanos ToNanos(uint64_t ticks) const;
  uint64_t ToTicks(Nanos nanos) const;

  // How wrong a conversion between two kept pairs can be: the loosest bracket, plus how far the
  // last slope was off when it was put to the test by the next pair.
  uint64_t ErrorBoundNanos() const;

  // How far off the extrapolation to the newest pair would have been: the measured error.
  uint64_t LastPredictionErrorNanos() const { return prediction_error_nanos_; }

  // 0 before the second pair.
  double NanosPerTick() const { return tail_slope_; }
  size_t pair_count() const { return count_; }

 private:
  const ClockPair& At(size_t age) const { return pairs_[(count_ - 1 - age) % kKept]; }
  size_t Kept() const { return count_ < kKept ? count_ : kKept; }
  double Slope(const ClockPair& from, const ClockPair& to) const;
  double TailSlope() const;

  std::array<ClockPair, kKept> pairs_ = {};
  size_t count_ = 0;       // ever added
  double tail_slope_ = 0;  // beyond the newest pair, nanoseconds for each tick
  uint64_t prediction_error_nanos_ = 0;
  uint64_t recent_worst_nanos_ = 0;
};

// Whether TSC times of different CPUs and of idle times can be compared at all: the CPU says that
// the counter is invariant, and the kernel has not rejected it as a clock. AArch64: always.
bool IsTscTrusted(const Machine& machine);

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_CLOCK_H_
