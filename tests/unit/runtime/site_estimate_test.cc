// The estimator against populations of blocks that are known in full. Seeds are fixed.
#include "agent/runtime/site_estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "viewer/statistics.h"

namespace memagent::runtime {
namespace {

using attribute::RegionCounts;
using ledger::PickClass;

struct Block {
  uint64_t size;
  uint32_t mean;  // in force when it is born
  bool dies;
};
using Population = std::vector<Block>;

RegionCounts Truth(const Population& blocks) {
  RegionCounts truth;
  for (const Block& block : blocks) {
    ++truth.allocations;
    truth.bytes_allocated += block.size;
    if (!block.dies) continue;
    ++truth.frees;
    truth.bytes_freed += block.size;
  }
  return truth;
}

// What the ledger would hold of them after one run.
SiteCount RunOnce(const Population& blocks, ledger::AllocationSampler& sampler) {
  std::map<std::pair<int, int>, RegionCounts> tracked;
  for (const Block& block : blocks) {
    PickClass how;
    if (!sampler.Picks(block.size, block.mean, how)) continue;
    RegionCounts& counts = tracked[{how.size_log2, how.mean_log2}];
    ++counts.allocations;
    counts.bytes_allocated += block.size;
    counts.bytes_peak = std::max(counts.bytes_peak, counts.bytes_allocated - counts.bytes_freed);
    if (!block.dies) continue;
    ++counts.frees;
    counts.bytes_freed += block.size;
  }
  SiteEstimate estimate;
  RegionCounts certain;
  for (const auto& [key, counts] : tracked) {
    const PickClass how = {static_cast<uint8_t>(key.first), static_cast<uint8_t>(key.second)};
    if (how.certain()) {
      certain = counts;
    } else {
      estimate.Add(counts, how);
    }
  }
  return estimate.Total(certain);
}

// How often the interval of one number holds the truth, and how far its mean is from it.
class Coverage {
 public:
  explicit Coverage(uint64_t truth) : truth_(static_cast<double>(truth)) {}
  void Add(uint64_t estimate, double variance) {
    const auto value = static_cast<double>(estimate);
    const viewer::Interval interval = viewer::EstimateInterval(value, variance);
    ++runs_;
    sum_ += value;
    squares_ += (value - truth_) * (value - truth_);
    variances_ += variance;
    hits_ += interval.low <= truth_ && truth_ <= interval.high;
  }
  void Expect(const char* what) const {
    const double sigma = std::sqrt(squares_ / runs_);
    EXPECT_NEAR(sum_ / runs_, truth_, 4 * sigma / std::sqrt(runs_) + 0.5) << what;
    EXPECT_GE(hits_ / runs_, 0.92) << what;
    EXPECT_LE(hits_ / runs_, 0.98) << what;
    // The stated variance is right, or up to an eighth too large.
    EXPECT_GE(variances_, 0.9 * squares_) << what;
    EXPECT_LE(variances_, 1.25 * squares_) << what;
  }

 private:
  double truth_;
  double runs_ = 0;
  double hits_ = 0;
  double sum_ = 0;
  double squares_ = 0;
  double variances_ = 0;
};

void ExpectUnbiasedAndCovered(const Population& blocks) {
  const RegionCounts truth = Truth(blocks);
  Coverage allocations(truth.allocations);
  Coverage frees(truth.frees);
  Coverage bytes(truth.bytes_allocated);
  Coverage live_blocks(truth.allocations - truth.frees);
  Coverage live_bytes(truth.bytes_allocated - truth.bytes_freed);
  ledger::AllocationSampler sampler;
  sampler.Seed(7);
  for (int run = 0; run < 2000; ++run) {
    const SiteCount got = RunOnce(blocks, sampler);
    allocations.Add(got.allocations, got.sampled.allocations_variance);
    frees.Add(got.frees, got.sampled.frees_variance);
    bytes.Add(got.bytes_allocated, got.sampled.bytes_allocated_variance);
    live_blocks.Add(got.allocations - got.frees, got.sampled.blocks_live_variance);
    live_bytes.Add(got.bytes_allocated - got.bytes_freed, got.sampled.bytes_live_variance);
  }
  allocations.Expect("allocations");
  frees.Expect("frees");
  bytes.Expect("bytes allocated");
  live_blocks.Expect("live blocks");
  live_bytes.Expect("live bytes");
}

TEST(PickProbability, IsOfThePoissonProcess) {
  EXPECT_EQ(PickProbability({}), 1);
  for (uint8_t size = 0; size <= ledger::kMaxMeanLog2; ++size) {
    const double x = std::exp2(std::max<int>(size, 5) - ledger::kMaxMeanLog2);
    const double p = PickProbability({size, ledger::kMaxMeanLog2});
    EXPECT_NEAR(p / -std::expm1(-x), 1, 1e-12) << x;
  }
}

TEST(SiteEstimate, OneSizeIsUnbiasedAndCovered) {
  Population blocks;
  for (int i = 0; i < 5000; ++i) blocks.push_back({48, 2048, i % 3 == 0});
  ExpectUnbiasedAndCovered(blocks);
}

TEST(SiteEstimate, ManySizesAreUnbiasedAndCovered) {
  std::mt19937_64 random(11);
  std::exponential_distribution<double> size(1.0 / 200);
  Population blocks;
  for (int i = 0; i < 3000; ++i) {
    blocks.push_back({static_cast<uint64_t>(size(random)), 1024, random() % 2 == 0});
  }
  ExpectUnbiasedAndCovered(blocks);
}

TEST(SiteEstimate, AMeanThatChangesIsUnbiasedAndCovered) {
  std::mt19937_64 random(12);
  Population blocks;
  for (int i = 0; i < 8000; ++i) {
    const uint32_t mean = i < 1000 ? 32 : i < 3000 ? 256 : i < 6000 ? 2048 : 1024;
    blocks.push_back({random() % 300, mean, random() % 4 != 0});
  }
  ExpectUnbiasedAndCovered(blocks);
}

TEST(SiteEstimate, FewPicksAreCovered) {
  Population blocks;
  for (int i = 0; i < 300; ++i) blocks.push_back({64, 1024, i % 2 == 0});  // 18 picks a run
  const RegionCounts truth = Truth(blocks);
  ledger::AllocationSampler sampler;
  sampler.Seed(8);
  int hits = 0;
  for (int run = 0; run < 2000; ++run) {
    const SiteCount got = RunOnce(blocks, sampler);
    const viewer::Interval interval = viewer::EstimateInterval(static_cast<double>(got.allocations),
                                                               got.sampled.allocations_variance);
    const auto expected = static_cast<double>(truth.allocations);
    hits += interval.low <= expected && expected <= interval.high;
  }
  EXPECT_GE(hits, 0.92 * 2000);
  EXPECT_LE(hits, 0.98 * 2000);
}

TEST(SiteEstimate, BlocksOfTheMeanAndMoreAreExact) {
  Population blocks(100, Block{4096, 1024, false});
  ledger::AllocationSampler sampler;
  sampler.Seed(9);
  const SiteCount got = RunOnce(blocks, sampler);
  EXPECT_EQ(got.allocations, 100u);
  EXPECT_EQ(got.bytes_allocated, 409'600u);
  EXPECT_FALSE(got.sampled.any());
  EXPECT_EQ(got.sampled.allocations_variance, 0);
}

TEST(SiteEstimate, InheritedBlocksAreEstimatedApart) {
  RegionCounts tracked;
  tracked.inherited_blocks = 10;
  tracked.inherited_bytes = 640;
  tracked.bytes_peak = 640;
  tracked.frees = 4;
  tracked.bytes_freed = 256;
  SiteEstimate estimate;
  estimate.Add(tracked, {6, 10});
  const double p = 1 - std::exp(-1.0 / 16);
  const SiteCount got = estimate.Total({});
  EXPECT_NEAR(static_cast<double>(got.inherited_blocks), 10 / p, 0.6);
  EXPECT_NEAR(static_cast<double>(got.bytes_freed), 256 / p, 0.6);
  EXPECT_NEAR(got.sampled.blocks_live_variance, 6 * (1 - p) / (p * p), 1e-6);
  EXPECT_EQ(got.sampled.allocations_variance, 0);
  EXPECT_TRUE(got.sampled.any());
}

}  // namespace
}  // namespace memagent::runtime
