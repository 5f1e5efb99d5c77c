#include "agent/ledger/cost_meter.h"

#include <algorithm>

namespace memagent::ledger {
namespace {

constinit std::array<CostMeter, kCostKinds> meters;
constinit std::atomic<uint64_t> random_state{0x2545f4914f6cdd1dull};

constexpr uint64_t kFirstMeanGap = 16;
constexpr uint64_t kGapDoublings = 6;
constexpr uint64_t kSamplesPerDoubling = 64;

// Threads that come here at the same time may draw the same number: no harm.
uint32_t Random() {
  const uint64_t next = random_state.load(std::memory_order_relaxed) * 6364136223846793005ull +
                        1442695040888963407ull;  // Knuth's MMIX generator
  random_state.store(next, std::memory_order_relaxed);
  return static_cast<uint32_t>(next >> 33);
}

}  // namespace

CostMeter& MeterOf(CostKind kind) { return meters[static_cast<size_t>(kind)]; }

AllCostSums ReadCostMeters() {
  AllCostSums sums;
  for (size_t i = 0; i < kCostKinds; ++i) sums[i] = meters[i].Read();
  return sums;
}

void ForgetCosts() {
  for (CostMeter& meter : meters) meter.Forget();
}

SampleGap NextSampleGap(bool first) {
  const uint64_t timed = MeterOf(CostKind::kClockRead).Read().samples;
  const auto mean = static_cast<uint32_t>(
      kFirstMeanGap << std::min(timed / kSamplesPerDoubling, kGapDoublings));
  return {(first ? 1 : mean / 2) + Random() % mean, mean};
}

}  // namespace memagent::ledger
