#include "agent/aggregate/accounting.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "agent/aggregate/aggregator.h"

namespace memagent::aggregate {
namespace {

template <typename Array>
uint64_t Sum(const Array& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

void ExpectIdentity(const Accounting& accounting) {
  EXPECT_EQ(accounting.samples_seen,
            accounting.attributed + Sum(accounting.unattributed) + Sum(accounting.dropped));
  EXPECT_EQ(accounting.faults_seen, accounting.faults_attributed +
                                        Sum(accounting.faults_unattributed) +
                                        Sum(accounting.faults_dropped));
  EXPECT_EQ(Sum(accounting.evidence), accounting.samples_seen - Sum(accounting.dropped));
}

TEST(Accounting, DropsCountAsSeen) {
  Accounting accounting;
  accounting.DropSamples(DropReason::kRingLost, 7);
  accounting.DropFaults(DropReason::kLate, 3);
  EXPECT_EQ(accounting.samples_seen, 7u);
  EXPECT_EQ(accounting.dropped[static_cast<size_t>(DropReason::kRingLost)], 7u);
  EXPECT_EQ(accounting.faults_seen, 3u);
  EXPECT_EQ(accounting.faults_dropped[static_cast<size_t>(DropReason::kLate)], 3u);
  ExpectIdentity(accounting);
}

TEST(Accounting, AddAddsEveryField) {
  Accounting one;
  static_assert(sizeof(Accounting) % sizeof(uint64_t) == 0);
  auto* words = reinterpret_cast<uint64_t*>(&one);
  const size_t count = sizeof(Accounting) / sizeof(uint64_t);
  for (size_t i = 0; i < count; ++i) words[i] = i + 1;
  Accounting sum = one;
  sum.Add(one);
  const auto* sums = reinterpret_cast<const uint64_t*>(&sum);
  for (size_t i = 0; i < count; ++i) EXPECT_EQ(sums[i], 2 * (i + 1)) << "word " << i;
}

TEST(Accounting, IdentityHoldsForEachThreadAndInSumWhateverHappens) {
  std::mt19937 random(5);
  Aggregator aggregator(10);
  for (int i = 0; i < 20'000; ++i) {
    ResolvedSample sample;
    sample.thread = 1 + random() % 5;
    sample.access.evidence = static_cast<Evidence>(random() % kEvidenceCount);
    sample.access.address = random();
    if (random() % 2 == 0)
      sample.attribution.site = SiteId{1 + static_cast<uint32_t>(random() % 9)};
    sample.attribution.reason =
        static_cast<UnattributedReason>(random() % kUnattributedReasonCount);
    const auto drop = static_cast<DropReason>(random() % kDropReasonCount);
    Accounting& accounting = aggregator.Thread(sample.thread).accounting;
    switch (random() % 4) {
      case 0:
        aggregator.AddSample(sample);
        break;
      case 1:
        aggregator.AddFault(sample);
        break;
      case 2:
        accounting.DropSamples(drop, random() % 4);
        break;
      default:
        accounting.DropFaults(drop, random() % 4);
        break;
    }
  }
  Accounting process;
  for (const auto& [serial, thread] : aggregator.threads()) {
    ExpectIdentity(thread.accounting);
    process.Add(thread.accounting);
  }
  ExpectIdentity(process);
  uint64_t in_sites = 0;
  for (const auto& [id, site] : aggregator.sites()) in_sites += site.samples;
  EXPECT_EQ(in_sites, process.attributed);
}

}  // namespace
}  // namespace memagent::aggregate
