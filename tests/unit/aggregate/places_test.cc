// What the aggregator says of places in memory: positions, strips, pages that moved or are new, nodes
// that threads ran on.
#include <gtest/gtest.h>

#include <vector>

#include "agent/aggregate/aggregator.h"
#include "agent/aggregate/positions.h"

namespace memagent::aggregate {
namespace {

constexpr SiteId kSite{3};
constexpr uint64_t kStart = 0x40000000;
constexpr uint64_t kSize = uint64_t{64} << 20;  // a position is 1 MiB
constexpr uint64_t kMiB = uint64_t{1} << 20;

ResolvedSample Sample(uint64_t address, uint32_t thread = 1, NodeId cpu = NodeId{0},
                      NodeId memory = NodeId{1}) {
  ResolvedSample sample;
  sample.thread = thread;
  sample.cpu_node = cpu;
  sample.memory_node = memory;
  sample.access.evidence = Evidence::kExact;
  sample.access.ip = 0x400000;
  sample.access.address = address;
  sample.attribution = {kSite, {}, kStart, kSize};
  return sample;
}

TEST(Positions, AreSixtyFourthsOfBigBlocks) {
  const attribute::Attribution block = {kSite, {}, kStart, kSize};
  EXPECT_EQ(PositionIn(block, kStart), 0u);
  EXPECT_EQ(PositionIn(block, kStart + kMiB - 1), 0u);
  EXPECT_EQ(PositionIn(block, kStart + kMiB), 1u);
  EXPECT_EQ(PositionIn(block, kStart + kSize - 1), 63u);
  EXPECT_EQ(PositionIn(block, kStart + kSize), std::nullopt);
  EXPECT_EQ(PositionIn(block, kStart - 8), std::nullopt);
  EXPECT_EQ(PositionIn({kSite, {}, kStart, kPositionedBytes - 1}, kStart), std::nullopt);
  EXPECT_EQ(PositionIn({kSite, {}, kStart, kPositionedBytes}, kStart + 4096), 1u);
  EXPECT_EQ(PositionIn({kSite, {}, 0, 0}, kStart), std::nullopt);
}

TEST(Places, CellsAndStripsSayWhichPartsOfTheBlockWereUsed) {
  Aggregator aggregator(10);
  aggregator.AddSample(Sample(kStart));
  aggregator.AddSample(Sample(kStart + 2 * kMiB));
  ResolvedSample store = Sample(kStart + 63 * kMiB, 2, NodeId{1}, NodeId{1});
  store.access.is_store = true;
  store.scale = 4;
  aggregator.AddSample(store);
  const SiteStats& site = *aggregator.FindSite(kSite);
  const CellCount& first = site.cells.at({1, NodeId{0}, NodeId{1}});
  EXPECT_EQ(first.positions, 0b101u);
  EXPECT_EQ(first.stores, 0u);
  const CellCount& second = site.cells.at({2, NodeId{1}, NodeId{1}});
  EXPECT_EQ(second.positions, uint64_t{1} << 63);
  EXPECT_EQ(second.stores, 4u);
  ASSERT_EQ(site.strips.size(), 3u);
  EXPECT_EQ(site.strips.at({2, NodeId{0}, NodeId{1}}), 1u);
  EXPECT_EQ(site.strips.at({63, NodeId{1}, NodeId{1}}), 4u);
  EXPECT_EQ(site.sharing.Of(SharingUnit::kBlock).pairs, 2u);
  EXPECT_EQ(site.sharing.Of(SharingUnit::kBlock).same_thread, 1u);
  EXPECT_EQ(site.sharing.Of(SharingUnit::kBlock).other_node_written, 1u);
}

TEST(Places, StripsBeyondTheLimitAreCountedAsLeftOut) {
  Aggregator aggregator(10);
  constexpr int16_t kNodes = 12;  // 64 parts of 144 pairs of nodes are 9,216
  for (int part = 0; part < 64; ++part) {
    for (int16_t i = 0; i < kNodes * kNodes; ++i) {
      const NodeId cpu{static_cast<int16_t>(i / kNodes)};
      const NodeId memory{static_cast<int16_t>(i % kNodes)};
      aggregator.AddSample(Sample(kStart + static_cast<uint64_t>(part) * kMiB, 1, cpu, memory));
    }
  }
  const SiteStats& site = *aggregator.FindSite(kSite);
  EXPECT_EQ(site.strips.size(), Aggregator::kMaxStrips);
  EXPECT_EQ(site.strip_samples_left_out, 64 * kNodes * kNodes - Aggregator::kMaxStrips);
  aggregator.AddSample(Sample(kStart));  // of a strip that is there
  EXPECT_EQ(site.strip_samples_left_out, 64 * kNodes * kNodes - Aggregator::kMaxStrips);
}

TEST(Places, AnAddressThatWasNotRecoveredSaysNothing) {
  Aggregator aggregator(10);
  ResolvedSample sample = Sample(kStart);
  sample.access.evidence = Evidence::kPcOnly;
  aggregator.AddSample(sample);
  aggregator.AddSample(sample);
  const SiteStats& site = *aggregator.FindSite(kSite);
  EXPECT_EQ(site.samples, 2u);
  EXPECT_EQ(site.cells.begin()->second.positions, 0u);
  EXPECT_TRUE(site.strips.empty());
  EXPECT_EQ(site.sharing.Of(SharingUnit::kLine).pairs, 0u);
}

TEST(Places, APageOnAnotherNodeThanBeforeHasMoved) {
  Aggregator aggregator(10);
  for (const int node : {0, 0, 1, 1, 0}) {
    aggregator.AddSample(Sample(kStart, 1, NodeId{0}, static_cast<NodeId>(node)));
  }
  aggregator.AddSample(Sample(kStart, 1, NodeId{0}, NodeId::kUnknown));
  EXPECT_EQ(aggregator.FindSite(kSite)->pages_moved, 2u);
}

TEST(Places, AThreadThatComesFromAnotherNodeHasMoved) {
  Aggregator aggregator(10);
  for (const int node : {0, 0, 1, -1, 1, 2, 0}) {
    aggregator.AddSample(Sample(kStart, 1, static_cast<NodeId>(node)));
  }
  aggregator.AddSample(Sample(kStart, 2, NodeId{1}));
  EXPECT_EQ(aggregator.Thread(1).node_changes, 3u);
  EXPECT_EQ(aggregator.Thread(2).node_changes, 0u);
}

TEST(Places, FirstTouchSaysWhichPartsOfTheBlock) {
  Aggregator aggregator(10);
  aggregator.AddFault(Sample(kStart + kMiB));
  aggregator.AddFault(Sample(kStart + 5 * kMiB));
  ResolvedSample small = Sample(kStart + 6 * kMiB, 2);
  small.attribution.size_bytes = 64;
  aggregator.AddFault(small);
  const auto& touches = aggregator.FindSite(kSite)->first_touch;
  EXPECT_EQ(touches.at({1, NodeId{0}, 0x400000}).positions, 0b100010u);
  EXPECT_EQ(touches.at({2, NodeId{0}, 0x400000}).positions, 0u);
}

TEST(Places, EachPageIsOfferedOnceByTouchAndOnceByAccess) {
  Aggregator aggregator(10);
  aggregator.AddFault(Sample(kStart));
  aggregator.AddFault(Sample(kStart + 8));
  aggregator.AddSample(Sample(kStart + 16));
  aggregator.AddSample(Sample(kStart + 24));
  std::vector<FreshPage> pages;
  const auto take = [&](const FreshPage& page) { pages.push_back(page); };
  aggregator.TakeFreshPages(take);
  ASSERT_EQ(pages.size(), 2u);
  EXPECT_TRUE(pages[0].touched);
  EXPECT_EQ(pages[0].address, kStart);
  EXPECT_EQ(pages[0].thread, 1u);
  EXPECT_FALSE(pages[1].touched);
  aggregator.TakeFreshPages(take);
  EXPECT_EQ(pages.size(), 2u);
}

TEST(Places, FewPagesAreOfferedAtATimeAndOfASite) {
  Aggregator aggregator(10);
  size_t offered = 0;
  for (int round = 0; round < 3; ++round) {
    for (uint32_t site = 1; site <= 100; ++site) {
      for (uint64_t page = 0; page < 20; ++page) {
        ResolvedSample sample = Sample(kStart + (site * 1000 + round * 20 + page) * 4096);
        sample.attribution.site = SiteId{site};
        aggregator.AddSample(sample);
      }
    }
    size_t batch = 0;
    aggregator.TakeFreshPages([&](const FreshPage&) { ++batch; });
    EXPECT_EQ(batch, Aggregator::kMaxFresh);
    offered += batch;
  }
  Aggregator one(10);
  for (uint64_t page = 0; page < 1000; ++page) one.AddSample(Sample(kStart + page * 4096));
  size_t of_site = 0;
  one.TakeFreshPages([&](const FreshPage&) { ++of_site; });
  EXPECT_EQ(of_site, Aggregator::kMaxFreshOfSite);
  EXPECT_EQ(offered, 3 * Aggregator::kMaxFresh);
}

}  // namespace
}  // namespace memagent::aggregate
