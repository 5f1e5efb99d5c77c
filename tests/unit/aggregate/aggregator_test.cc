#include "agent/aggregate/aggregator.h"

#include <gtest/gtest.h>

namespace memagent::aggregate {
namespace {

constexpr SiteId kSite{3};

ResolvedSample Sample(uint64_t ip = 0x400000, uint64_t address = 0x10000) {
  ResolvedSample sample;
  sample.thread = 1;
  sample.cpu_node = NodeId{0};
  sample.memory_node = NodeId{1};
  sample.access.evidence = Evidence::kExact;
  sample.access.ip = ip;
  sample.access.address = address;
  sample.attribution.site = kSite;
  return sample;
}

TEST(Aggregator, SampleIsBookedOnItsSiteThreadCodeAndCell) {
  Aggregator aggregator(10);
  aggregator.AddSample(Sample());
  ResolvedSample local = Sample();
  local.memory_node = NodeId{0};
  aggregator.AddSample(local);
  const SiteStats& site = *aggregator.FindSite(kSite);
  EXPECT_EQ(site.samples, 2u);
  EXPECT_EQ(site.evidence[static_cast<size_t>(Evidence::kExact)], 2u);
  EXPECT_EQ(site.cells.at({1, NodeId{0}, NodeId{1}}).samples, 1u);
  EXPECT_EQ(site.cells.at({1, NodeId{0}, NodeId{0}}).samples, 1u);
  EXPECT_EQ(site.code.at(0x400000).samples, 2u);
  EXPECT_EQ(site.code.at(0x400000).remote_samples, 1u);
  EXPECT_EQ(site.pages.size(), 1u);
  EXPECT_EQ(site.pages.at(0x10), NodeId{0});  // where the page was last
  EXPECT_TRUE(site.changed);
  EXPECT_EQ(aggregator.Thread(1).samples_by_node, (base::Vector<uint64_t>{2}));
  EXPECT_EQ(aggregator.reservoir().kept().size(), 2u);
}

TEST(Aggregator, ASampleOfALongerPeriodCountsForSeveral) {
  Aggregator aggregator(10);
  aggregator.AddSample(Sample());
  ResolvedSample rare = Sample();
  rare.scale = 4;
  aggregator.AddSample(rare);
  rare.attribution.site = SiteId::kUnknown;
  rare.attribution.reason = UnattributedReason::kUnallocated;
  aggregator.AddSample(rare);
  const SiteStats& site = *aggregator.FindSite(kSite);
  EXPECT_EQ(site.samples, 5u);
  EXPECT_EQ(site.cells.at({1, NodeId{0}, NodeId{1}}).samples, 5u);
  EXPECT_EQ(site.code.at(0x400000).remote_samples, 5u);
  const Accounting& accounting = aggregator.Thread(1).accounting;
  EXPECT_EQ(accounting.samples_seen, 9u);
  EXPECT_EQ(accounting.attributed, 5u);
  EXPECT_EQ(accounting.unattributed[static_cast<size_t>(UnattributedReason::kUnallocated)], 4u);
  EXPECT_EQ(aggregator.samples_taken(), 3u);
  EXPECT_EQ(aggregator.sample_weight_squares(), 33u);
}

TEST(Aggregator, CodeThatIsGoneIsCountedUnderItsFrame) {
  Aggregator aggregator(10);
  aggregator.AddSample(Sample(0x500010));
  aggregator.AddSample(Sample(0x600000));  // past the end
  ResolvedSample fault = Sample(0x500010, 0x20000);
  aggregator.AddFault(fault);
  const auto name = [&] {
    aggregator.NameCode(0x500000, 0x600000, [](uint64_t ip) { return ip == 0x500010 ? 7 : 9; });
  };
  name();
  aggregator.AddSample(Sample(0x500010));  // other code at the same place
  const SiteStats& site = *aggregator.FindSite(kSite);
  EXPECT_EQ(site.code.at(kNamedCode | 7).samples, 1u);
  EXPECT_EQ(site.code.at(0x500010).samples, 1u);
  EXPECT_EQ(site.code.at(0x600000).samples, 1u);
  ASSERT_EQ(site.first_touch.size(), 1u);
  EXPECT_EQ(site.first_touch.begin()->first.ip, kNamedCode | 7);
  EXPECT_EQ(site.first_touch.begin()->second.faults, 1u);
  name();
  EXPECT_EQ(site.code.at(kNamedCode | 7).samples, 2u);  // the same library was there again
}

TEST(Aggregator, UnknownNodeIsNeitherLocalNorRemote) {
  Aggregator aggregator(10);
  ResolvedSample sample = Sample();
  sample.memory_node = NodeId::kUnknown;
  sample.page_not_present = true;
  aggregator.AddSample(sample);
  const SiteStats& site = *aggregator.FindSite(kSite);
  EXPECT_EQ(site.code.at(0x400000).remote_samples, 0u);
  EXPECT_TRUE(site.pages.empty());
  EXPECT_EQ(site.pages_not_present, 1u);
}

TEST(Aggregator, PagesAreCountedOnceUpToTheirLimit) {
  Aggregator aggregator(10);
  for (uint64_t page = 1; page <= Aggregator::kMaxPages + 10; ++page) {
    aggregator.AddSample(Sample(0x400000, page * 4096));
    aggregator.AddSample(Sample(0x400000, page * 4096 + 8));
  }
  const SiteStats& site = *aggregator.FindSite(kSite);
  EXPECT_EQ(site.pages.size(), Aggregator::kMaxPages);
  EXPECT_EQ(site.samples, 2 * (Aggregator::kMaxPages + 10));
}

TEST(Aggregator, UnattributedSampleIsKeptForDisplayOnly) {
  Aggregator aggregator(10);
  ResolvedSample sample = Sample();
  sample.attribution = {SiteId::kUnknown, UnattributedReason::kAmbiguousTime};
  aggregator.AddSample(sample);
  EXPECT_TRUE(aggregator.sites().empty());
  const Accounting& accounting = aggregator.Thread(1).accounting;
  EXPECT_EQ(accounting.unattributed[static_cast<size_t>(UnattributedReason::kAmbiguousTime)], 1u);
  ASSERT_EQ(aggregator.reservoir().kept().size(), 1u);
  EXPECT_EQ(aggregator.reservoir().kept()[0].site, 0u);
}

TEST(Aggregator, CodeBeyondTheLimitIsBookedUnderZero) {
  Aggregator aggregator(10);
  for (uint64_t i = 1; i <= Aggregator::kMaxCode + 100; ++i) aggregator.AddSample(Sample(i));
  aggregator.AddSample(Sample(1));  // known: still its own
  const SiteStats& site = *aggregator.FindSite(kSite);
  EXPECT_EQ(site.code.size(), Aggregator::kMaxCode + 1);
  EXPECT_EQ(site.code.at(0).samples, 100u);
  EXPECT_EQ(site.code.at(1).samples, 2u);
  uint64_t sum = 0;
  for (const auto& [ip, count] : site.code) sum += count.samples;
  EXPECT_EQ(sum, site.samples);
}

TEST(Aggregator, FirstTouchCountsAPageOnce) {
  Aggregator aggregator(10);
  ResolvedSample fault = Sample(0x400000, 0x10000);
  fault.scale = 4;
  aggregator.AddFault(fault);
  fault.access.address = 0x10fff;  // the same page: copy-on-write, NUMA balancing
  aggregator.AddFault(fault);
  fault.access.address = 0x11000;
  aggregator.AddFault(fault);
  const TouchCount& touch = aggregator.FindSite(kSite)->first_touch.at({1, NodeId{0}, 0x400000});
  EXPECT_EQ(touch.faults, 2u);
  EXPECT_DOUBLE_EQ(touch.pages, 8);
  EXPECT_EQ(aggregator.Thread(1).accounting.faults_attributed, 3u);
  EXPECT_EQ(aggregator.FindSite(kSite)->samples, 0u);
}

TEST(Aggregator, AHugePageIsTouchedAsAWholeAndOnce) {
  Aggregator aggregator(10);
  constexpr uint64_t kHuge = uint64_t{2} << 20;
  ResolvedSample fault = Sample(0x400000, 4 * kHuge + 0x5000);
  fault.attribution = {kSite, {}, 4 * kHuge - 0x800, 8 * kHuge};
  fault.page_bytes = kHuge;
  fault.scale = 3;
  aggregator.AddFault(fault);
  const TouchCount& touch = aggregator.FindSite(kSite)->first_touch.at({1, NodeId{0}, 0x400000});
  EXPECT_EQ(touch.faults, 1u);
  EXPECT_DOUBLE_EQ(touch.pages, 3 * 512);
  EXPECT_DOUBLE_EQ(aggregator.FindSite(kSite)->touched_pages_huge, 3 * 512);
  EXPECT_EQ(touch.positions, 0x1ffu);  // an eighth and the bytes of the next 64th
  fault.access.address += 0x70000;     // NUMA balancing
  aggregator.AddFault(fault);
  fault.page_bytes = 0;
  aggregator.AddFault(fault);
  EXPECT_EQ(touch.faults, 1u);
  fault.access.address += kHuge;
  aggregator.AddFault(fault);
  EXPECT_DOUBLE_EQ(touch.pages, 3 * 513);
  EXPECT_DOUBLE_EQ(aggregator.FindSite(kSite)->touched_pages_told, 3 * 512);
}

TEST(Aggregator, OfAHugePageOnlyTheBlocksPartCounts) {
  Aggregator aggregator(10);
  constexpr uint64_t kHuge = uint64_t{2} << 20;
  ResolvedSample fault = Sample(0x400000, 4 * kHuge + 0x5000);
  fault.page_bytes = kHuge;
  fault.attribution = {kSite, {}, 4 * kHuge + 0x4ff0, 0x3000};
  aggregator.AddFault(fault);
  const TouchCount& touch = aggregator.FindSite(kSite)->first_touch.at({1, NodeId{0}, 0x400000});
  EXPECT_DOUBLE_EQ(touch.pages, 4);
  EXPECT_EQ(touch.positions, 0u);  // the block is small
  fault.attribution.size_bytes = 0x10;
  fault.access.address += kHuge;
  aggregator.AddFault(fault);  // attributed to what lies elsewhere: at least its own page
  EXPECT_DOUBLE_EQ(touch.pages, 5);
}

TEST(Aggregator, PageGivenBackIsTouchedFirstAgain) {
  Aggregator aggregator(10);
  aggregator.AddFault(Sample(0x400000, 0x10000));
  aggregator.ForgetPages(0x10000, 4096);
  aggregator.AddFault(Sample(0x400000, 0x10000));
  EXPECT_EQ(aggregator.FindSite(kSite)->first_touch.at({1, NodeId{0}, 0x400000}).faults, 2u);
}

TEST(Aggregator, UnattributedFaultLeavesThePageUntouched) {
  Aggregator aggregator(10);
  ResolvedSample fault = Sample();
  fault.attribution = {SiteId::kUnknown, UnattributedReason::kUnallocated};
  aggregator.AddFault(fault);
  EXPECT_EQ(aggregator.FindSite(kSite), nullptr);
  aggregator.AddFault(Sample());
  EXPECT_EQ(aggregator.FindSite(kSite)->first_touch.size(), 1u);
}

TEST(Aggregator, FirstTouchBeyondTheLimitKeepsThreadAndNode) {
  Aggregator aggregator(10);
  for (uint64_t i = 1; i <= Aggregator::kMaxFirstTouch + 50; ++i) {
    aggregator.AddFault(Sample(i, i * 4096));
  }
  const auto& touches = aggregator.FindSite(kSite)->first_touch;
  EXPECT_EQ(touches.size(), Aggregator::kMaxFirstTouch + 1);
  EXPECT_EQ(touches.at({1, NodeId{0}, 0}).faults, 50u);
}

TEST(Aggregator, SamplesByNodeGrowsToTheHighestNode) {
  Aggregator aggregator(10);
  ResolvedSample sample = Sample();
  sample.cpu_node = NodeId{3};
  aggregator.AddSample(sample);
  sample.cpu_node = NodeId::kUnknown;
  aggregator.AddSample(sample);
  EXPECT_EQ(aggregator.Thread(1).samples_by_node, (base::Vector<uint64_t>{0, 0, 0, 1}));
}

TEST(Aggregator, LatencyIsSummedByCellCodeAndKind) {
  Aggregator aggregator(10);
  ResolvedSample remote = Sample();
  remote.has_told = true;
  remote.told.source.op = MemoryOp::kLoad;
  remote.told.source.level = MemoryLevel::kDram;
  remote.told.source.locality = Locality::kOtherNode;
  remote.told.page_bytes = 4096;
  remote.told.instruction_cycles = 900;
  remote.told.latency_cycles = 300;
  aggregator.AddSample(remote);
  remote.told.latency_cycles = 700;
  remote.scale = 2;
  aggregator.AddSample(remote);
  remote.told.latency_cycles = 0;  // the hardware did not tell
  aggregator.AddSample(remote);
  const SiteStats& site = *aggregator.FindSite(kSite);
  const CellCount& cell = site.cells.at({1, NodeId{0}, NodeId{1}});
  EXPECT_EQ(cell.samples, 5u);
  EXPECT_EQ(cell.latency.samples, 3u);
  EXPECT_EQ(cell.latency.cycles, 1700u);
  EXPECT_EQ(site.code.at(0x400000).latency.cycles, 1700u);
  EXPECT_EQ(site.latency, (LatencyHistogram{{256, 1}, {640, 2}}));
  ASSERT_EQ(site.kinds.all().size(), 1u);
  const AccessKind& kind = site.kinds.all().begin()->second;
  EXPECT_EQ(kind.source, remote.told.source);
  EXPECT_EQ(kind.page_bytes, 4096u);
  EXPECT_EQ(kind.instruction.samples, 5u);
  EXPECT_EQ(kind.tlb_refill.samples, 0u);
  EXPECT_EQ(kind.page, PageWitness::kOtherNode);
  EXPECT_EQ(kind.samples, 5u);
  EXPECT_EQ(kind.latency.samples, 3u);
}

TEST(AccessKinds, WitnessesThatDisagreeAreCountedApart) {
  AccessKinds kinds;
  HardwareTold local;
  local.source.locality = Locality::kSameNode;
  kinds.Add(local, PageWitness::kSameNode, 1);
  kinds.Add(local, PageWitness::kOtherNode, 1);
  kinds.Add(local, PageWitness::kOtherNode, 1);
  ASSERT_EQ(kinds.all().size(), 2u);
  for (const auto& [key, kind] : kinds.all()) {
    EXPECT_EQ(kind.samples, kind.page == PageWitness::kOtherNode ? 2u : 1u);
  }
}

TEST(AccessKinds, KindsThatDifferInAnythingAreApart) {
  AccessKinds kinds;
  HardwareTold told;
  kinds.Add(told, PageWitness::kUnknown, 1);
  for (const uint64_t bytes : {uint64_t{4096}, uint64_t{2} << 20, uint64_t{1} << 30}) {
    told.page_bytes = bytes;
    kinds.Add(told, PageWitness::kUnknown, 1);
  }
  told.source.region = 31;
  kinds.Add(told, PageWitness::kUnknown, 1);
  told.source.locked = true;
  kinds.Add(told, PageWitness::kUnknown, 1);
  told.source.tlb = TlbLevel::kFault;
  kinds.Add(told, PageWitness::kUnknown, 1);
  kinds.Add(told, PageWitness::kOtherNode, 1);
  EXPECT_EQ(kinds.all().size(), 8u);
}

TEST(AccessKinds, BeyondTheLimitTheRestIsUnknownTogether) {
  AccessKinds kinds;
  uint64_t added = 0;
  for (uint8_t region = 0; region < 32; ++region) {
    for (uint8_t op = 0; op < kMemoryOpCount; ++op) {
      for (uint8_t level = 0; level < kMemoryLevelCount; ++level, ++added) {
        HardwareTold told;
        told.source.region = region;
        told.source.op = MemoryOp{op};
        told.source.level = MemoryLevel{level};
        kinds.Add(told, PageWitness::kUnknown, 1);
      }
    }
  }
  EXPECT_LE(kinds.all().size(), AccessKinds::kMaxKinds + 1);
  uint64_t sum = 0;
  for (const auto& [key, kind] : kinds.all()) sum += kind.samples;
  EXPECT_EQ(sum, added);
}

TEST(Aggregator, FatesAreCountedByCodeAndKeepTheirNames) {
  Aggregator aggregator(10);
  ResolvedSample sample = Sample();
  sample.attribution.site = SiteId::kUnknown;
  sample.attribution.reason = UnattributedReason::kNoDataAddress;
  sample.fate = decode::ProfileMeSample{};
  sample.fate->fate = decode::ProfileMeFate::kTrapped;
  sample.fate->trap = decode::ProfileMeTrap::kDtbSingleMiss;
  sample.fate->stalled = true;
  sample.fate->in_window = 30;
  sample.scale = 2;
  aggregator.AddSample(sample);
  sample.fate->fate = decode::ProfileMeFate::kRetired;
  aggregator.AddSample(sample);
  const FateCounts& counts = aggregator.fates().by_code().at(0x400000);
  EXPECT_EQ(counts.samples, 4u);
  EXPECT_EQ(counts.retired, 2u);
  EXPECT_EQ(counts.trapped[static_cast<size_t>(decode::ProfileMeTrap::kDtbSingleMiss)], 2u);
  EXPECT_EQ(counts.stalled, 4u);
  EXPECT_EQ(counts.in_window, 120u);
  aggregator.NameCode(0x400000, 0x500000, [](uint64_t) { return 7u; });
  EXPECT_EQ(aggregator.fates().by_code().at(kNamedCode | 7).samples, 4u);
  EXPECT_EQ(aggregator.fates().by_code().size(), 1u);
}

TEST(CodeFates, BeyondTheLimitCodeIsNotTold) {
  CodeFates fates;
  for (uint64_t ip = 1; ip <= CodeFates::kMaxCode + 5; ++ip) fates.Add(ip, {}, 1);
  EXPECT_EQ(fates.by_code().at(0).samples, 5u);
}

TEST(Latency, FloorKeepsThreeBits) {
  EXPECT_EQ(LatencyFloor(1), 1u);
  EXPECT_EQ(LatencyFloor(7), 7u);
  EXPECT_EQ(LatencyFloor(9), 8u);
  EXPECT_EQ(LatencyFloor(476), 448u);
  EXPECT_EQ(LatencyFloor(0xffffffff), 0xe0000000u);
}

}  // namespace
}  // namespace memagent::aggregate
