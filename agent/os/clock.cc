#include "agent/os/clock.h"

#include <time.h>

#include <algorithm>
#include <string_view>

#include "agent/base/syscall.h"
#include "agent/os/tsc.h"

namespace memagent::os {
namespace {

using base::Syscall;

constexpr Nanos kNanosPerSecond = 1'000'000'000;
// The slope beyond the last pair comes from a span this long: two brackets of 100 ns over it are
// 2 ppm, over a single drain tick they would be 20 ppm.
constexpr Nanos kTailNanos = 100'000'000;
// A bracket this many times looser than the last was interrupted.
constexpr uint64_t kLooseFactor = 4;
// A bad prediction counts for this many pairs, fading.
constexpr uint64_t kForgetting = 16;

Nanos ReadClock(clockid_t clock) {
  timespec now = {};
  Syscall(SYS_clock_gettime, clock, &now);
  return static_cast<Nanos>(now.tv_sec) * kNanosPerSecond + static_cast<Nanos>(now.tv_nsec);
}

double SignedDifference(uint64_t a, uint64_t b) {
  return static_cast<double>(static_cast<int64_t>(a - b));
}

// Without libm, which the agent does not link.
int64_t Round(double value) { return static_cast<int64_t>(value < 0 ? value - 0.5 : value + 0.5); }

}  // namespace

uint64_t ThreadCpuNanos() { return ReadClock(CLOCK_THREAD_CPUTIME_ID); }
uint64_t ProcessCpuNanos() { return ReadClock(CLOCK_PROCESS_CPUTIME_ID); }
Nanos MonotonicNanos() { return ReadClock(CLOCK_MONOTONIC); }

Nanos UnixNanos() { return ReadClock(CLOCK_REALTIME); }

ClockPair TakeClockPair(int tries) {
  ClockPair best;
  best.half_width_ticks = UINT64_MAX;
  for (int i = 0; i < tries; ++i) {
    const uint64_t before = ReadTscOrdered();
    const Nanos now = MonotonicNanos();
    const uint64_t after = ReadTscOrdered();
    const uint64_t half = (after - before + 1) / 2;
    if (half < best.half_width_ticks) best = {before + half, now, half};
  }
  return best;
}

void TscClock::Calibrate() {
  if (count_ == 0) {
    AddPair(TakeClockPair());
    const timespec pause = {0, 1'000'000};
    Syscall(SYS_nanosleep, &pause, nullptr);
  }
  AddPair(TakeClockPair());
}

void TscClock::AddPair(const ClockPair& pair) {
  if (count_ > 0) {
    const ClockPair& last = At(0);
    if (pair.ticks <= last.ticks || pair.nanos <= last.nanos) return;
    const bool loose = pair.half_width_ticks > kLooseFactor * (last.half_width_ticks + 1);
    if (loose && count_ > 1 && pair.nanos - last.nanos < kNanosPerSecond) return;
  }
  if (count_ > 1) {
    const int64_t error = static_cast<int64_t>(ToNanos(pair.ticks) - pair.nanos);
    prediction_error_nanos_ = static_cast<uint64_t>(error < 0 ? -error : error);
    recent_worst_nanos_ =
        std::max(prediction_error_nanos_, recent_worst_nanos_ - recent_worst_nanos_ / kForgetting);
  }
  pairs_[count_ % kKept] = pair;
  ++count_;
  if (count_ > 1) tail_slope_ = TailSlope();
}

double TscClock::Slope(const ClockPair& from, const ClockPair& to) const {
  return SignedDifference(to.nanos, from.nanos) / SignedDifference(to.ticks, from.ticks);
}

double TscClock::TailSlope() const {
  size_t age = 1;
  while (age + 1 < Kept() && At(0).nanos - At(age).nanos < kTailNanos) ++age;
  return Slope(At(age), At(0));
}

Nanos TscClock::ToNanos(uint64_t ticks) const {
  if (count_ < 2) return 0;
  // The youngest pair at or before `ticks`; nearly always one of the first few.
  size_t age = 0;
  while (age + 1 < Kept() && At(age).ticks > ticks) ++age;
  const ClockPair& from = At(age);
  const double slope = age == 0 ? tail_slope_ : Slope(from, At(age - 1));
  return from.nanos + static_cast<Nanos>(Round(SignedDifference(ticks, from.ticks) * slope));
}

uint64_t TscClock::ToTicks(Nanos nanos) const {
  if (count_ < 2) return 0;
  size_t age = 0;
  while (age + 1 < Kept() && At(age).nanos > nanos) ++age;
  const ClockPair& from = At(age);
  const double slope = age == 0 ? tail_slope_ : Slope(from, At(age - 1));
  return from.ticks + static_cast<uint64_t>(Round(SignedDifference(nanos, from.nanos) / slope));
}

uint64_t TscClock::ErrorBoundNanos() const {
  if (count_ < 2) return UINT64_MAX;
  uint64_t loosest = 0;
  for (size_t age = 0; age < Kept(); ++age) {
    loosest = std::max(loosest, At(age).half_width_ticks);
  }
  const auto bracket = static_cast<uint64_t>(static_cast<double>(loosest) * tail_slope_);
  return bracket + recent_worst_nanos_ + 1;
}

bool IsTscTrusted(const Machine& machine) {
#if defined(__x86_64__)
  const std::string_view source = machine.clock_source;
  const bool kernel_trusts =
      source == "tsc" || source == "kvm-clock" || source.starts_with("hyperv");
  return machine.cpu.constant_tsc && machine.cpu.nonstop_tsc && kernel_trusts;
#else
  (void)machine;  // cntvct_el0 is one counter for the whole system, by the architecture
  return true;
#endif
}

}  // namespace memagent::os
