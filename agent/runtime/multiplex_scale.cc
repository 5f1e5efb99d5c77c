#include "agent/runtime/multiplex_scale.h"

#include <algorithm>

namespace memagent::runtime {
namespace {

// The kernel's turns are 1 to 10 ms: many of them, and short against what a program does.
constexpr uint64_t kWindowNanos = 100'000'000;
// Before the first window is full, from a few turns on.
constexpr uint64_t kFirstNanos = 10'000'000;
// Opening, and the clocks' rounding, take this much of no event's time.
constexpr double kAllTheTime = 1.01;
// An event that ran so little knows nothing of the rest.
constexpr double kMostEach = 1000;

}  // namespace

void MultiplexScale::Update(uint64_t wanted_nanos, uint64_t running_nanos) {
  const uint64_t wanted = wanted_nanos - std::min(wanted_, wanted_nanos);
  const uint64_t running = running_nanos - std::min(running_, running_nanos);
  const bool full = wanted >= kWindowNanos;
  if (running == 0 || !(full || (!full_window_ && wanted >= kFirstNanos))) return;
  const double ratio = static_cast<double>(wanted) / static_cast<double>(running);
  ratio_ = ratio < kAllTheTime ? 1 : std::min(ratio, kMostEach);
  if (!full) return;
  full_window_ = true;
  wanted_ = wanted_nanos;
  running_ = running_nanos;
}

uint64_t MultiplexScale::Next() {
  if (ratio_ == 1) return 1;
  carried_ += ratio_;
  const auto whole = static_cast<uint64_t>(carried_);
  carried_ -= static_cast<double>(whole);
  return whole;
}

}  // namespace memagent::runtime
