#include "viewer/pattern.h"

#include <gtest/gtest.h>

#include "tests/unit/viewer/placed_site.h"

namespace memagent::viewer {
namespace {

Pattern PatternOfSite(PlacedSite& site) {
  const View view = site.Build();
  EXPECT_EQ(view.sites.size(), 1u);
  return PatternOf(view, view.sites.at(0));
}

// Both nodes use it evenly.
PlacedSite EvenUse(uint64_t stores_0 = 0, uint64_t stores_1 = 0) {
  PlacedSite site;
  site.Use(0, 0, 0, 1000, stores_0).Use(1, 1, 0, 1000, stores_1);
  return site;
}

TEST(Pattern, NodeWithNearlyAllAccessesIsTheOwner) {
  PlacedSite site;
  site.Use(0, 0, 0, 20).Use(1, 1, 0, 980);
  const Pattern pattern = PatternOfSite(site);
  EXPECT_EQ(pattern.kind, PatternKind::kOneOwner);
  EXPECT_EQ(pattern.node, 1);
}

TEST(Pattern, NodeWithMostAccessesIsNoOwner) {
  PlacedSite site;
  site.Use(0, 0, 0, 200).Use(1, 1, 0, 800);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kUnknown);
}

TEST(Pattern, FewSamplesAreUnknown) {
  PlacedSite site;
  site.Use(1, 1, 0, 29);
  const Pattern pattern = PatternOfSite(site);
  EXPECT_EQ(pattern.kind, PatternKind::kUnknown);
  EXPECT_EQ(pattern.why, "only 29 samples could be located");
}

TEST(Pattern, PartsOfOneNodeEachAreBlocked) {
  PlacedSite site = EvenUse();
  site.Parts({0, 1}, 0, 31).Pairs(4096, 400, 396);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kBlocked);
}

TEST(Pattern, PartsAloneTellBlocked) {
  PlacedSite site = EvenUse();
  site.Parts({0, 1, 0, 1}, 0, 31);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kBlocked);
}

TEST(Pattern, MixedPartsWithoutPairsOfPagesAreUnknown) {
  PlacedSite site = EvenUse();
  for (uint32_t i = 0; i < 64; ++i) site.Strip(i, 0, 0, 15).Strip(i, 1, 0, 15);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kUnknown);
}

TEST(Pattern, OwnPagesInMixedPartsAreCyclic) {
  PlacedSite site = EvenUse();
  for (uint32_t i = 0; i < 64; ++i) site.Strip(i, 0, 0, 15).Strip(i, 1, 0, 15);
  site.Pairs(4096, 400, 390);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kCyclic);
}

TEST(Pattern, PagesOfBothNodesAreShared) {
  PlacedSite site = EvenUse();
  for (uint32_t i = 0; i < 64; ++i) site.Strip(i, 0, 0, 15).Strip(i, 1, 0, 15);
  site.Pairs(4096, 400, 205);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kShared);  // nothing tells stores
}

TEST(Pattern, PagesThatFewPairsMetAreUnknown) {
  PlacedSite site = EvenUse();
  site.Pairs(4096, 20, 10);
  const Pattern pattern = PatternOfSite(site);
  EXPECT_EQ(pattern.kind, PatternKind::kUnknown);
  EXPECT_EQ(pattern.why, "only 20 pairs of samples met in one page");
}

TEST(Pattern, HalfMixedPagesAreUnknown) {
  PlacedSite site = EvenUse();
  site.Pairs(4096, 400, 300);  // a quarter from two nodes, by chance it would be half
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kUnknown);
}

TEST(Pattern, SharedWithStoresOfBothNodesIsWritten) {
  PlacedSite site = EvenUse(300, 300);
  site.Pairs(4096, 400, 205);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kSharedWritten);
}

TEST(Pattern, SharedThatOneNodeFilledIsRead) {
  PlacedSite site = EvenUse(60, 0);
  site.Touch(0, 0, 1000).Pairs(4096, 400, 205);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kSharedRead);
}

TEST(Pattern, SharedThatOthersWroteLaterIsWritten) {
  PlacedSite site = EvenUse(0, 60);
  site.Touch(0, 0, 1000).Pairs(4096, 400, 205);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kSharedWritten);
}

// A hash table with few stores, of all threads.
TEST(Pattern, SharedWithFewStoresOfAllIsWritten) {
  PlacedSite site = EvenUse(25, 25);
  site.Touch(0, 0, 1000).Pairs(4096, 400, 205);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kSharedWritten);
}

TEST(Pattern, StoresOfAllWhoTouchedItMayBeOfLater) {
  PlacedSite site = EvenUse(25, 25);
  site.Touch(0, 0, 500).Touch(1, 1, 500).Pairs(4096, 400, 205);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kSharedWritten);
}

TEST(Pattern, StoresOfAnotherThreadOnTheFillersNodeAreNotItsFilling) {
  PlacedSite site = EvenUse(20, 0);
  site.Use(2, 0, 0, 500, 40).Touch(0, 0, 1000).Pairs(4096, 400, 205);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kSharedWritten);
}

TEST(Pattern, FewSamplesDoNotTellThatNobodyWrites) {
  PlacedSite site;
  site.Use(0, 0, 0, 200, 5).Use(1, 1, 0, 200).Touch(0, 0, 1000).Pairs(4096, 400, 205);
  const Pattern pattern = PatternOfSite(site);
  EXPECT_EQ(pattern.kind, PatternKind::kShared);
  EXPECT_NE(pattern.why.find("too few samples to tell who makes them"), std::string::npos);
}

// The software engine's clock seldom ticks at a store.
TEST(Pattern, EngineThatSeesStoresByChanceDoesNotTellThem) {
  PlacedSite site;
  site.StoresByChance().Use(0, 0, 0, 1000, 5).Use(1, 1, 0, 1000);
  site.Touch(0, 0, 1000).Pairs(4096, 400, 205);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kShared);
}

TEST(Pattern, BlocksThatComeAndGoHaveAProducer) {
  PlacedSite site;
  site.Blocks(100, 98, 1 << 22).Use(0, 0, 0, 150).Use(1, 1, 0, 850).Touch(0, 0, 5000);
  const Pattern pattern = PatternOfSite(site);
  EXPECT_EQ(pattern.kind, PatternKind::kProducerConsumer);
  EXPECT_EQ(pattern.node, 0);
}

TEST(Pattern, ConsumerThatTouchesFewPagesIsNoProducer) {
  PlacedSite site;
  site.Blocks(100, 98, 1 << 22).Use(0, 0, 0, 60).Use(1, 1, 0, 940);
  site.Touch(0, 0, 5000).Touch(1, 1, 20);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kProducerConsumer);
}

TEST(Pattern, OneBlockFilledOnceHasNoProducer) {
  PlacedSite site;
  site.Use(0, 0, 0, 150).Use(1, 1, 0, 850).Touch(0, 0, 5000);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kUnknown);
}

TEST(Pattern, ThreadThatUsesItsOwnBlocksIsNoProducer) {
  PlacedSite site;
  site.Blocks(100, 98, 1 << 22).Use(0, 0, 0, 600).Use(1, 1, 0, 400).Touch(0, 0, 5000);
  EXPECT_NE(PatternOfSite(site).kind, PatternKind::kProducerConsumer);
}

TEST(Pattern, OneWriterAndReadersOfTheSamePagesAreProducerAndConsumer) {
  PlacedSite site;
  site.Use(0, 0, 0, 400, 390).Use(1, 1, 0, 600, 2).Pairs(4096, 400, 210);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kProducerConsumer);
}

TEST(Pattern, WriterOfPagesThatOthersDoNotUseIsNoProducer) {
  PlacedSite site;
  site.Use(0, 0, 0, 400, 390).Use(1, 1, 0, 600, 2).Pairs(4096, 400, 396);
  EXPECT_NE(PatternOfSite(site).kind, PatternKind::kProducerConsumer);
}

TEST(Pattern, EachStackHasItsOwner) {
  PlacedSite site;
  site.Kind(v1::STACK).Blocks(0, 0, 0).Use(0, 0, 0, 1000).Use(1, 1, 0, 1000).Pairs(0, 1000, 990);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kOwnerOfEachBlock);
}

TEST(Pattern, EachBlockMayHaveItsOwner) {
  PlacedSite site = EvenUse();
  site.Blocks(40, 0, 1 << 20).Pairs(0, 500, 495);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kOwnerOfEachBlock);
}

TEST(Pattern, OneNodeIsNoPattern) {
  PlacedSite site(1);
  site.Use(0, 0, 0, 500).Use(1, 0, 0, 500);
  EXPECT_EQ(PatternOfSite(site).kind, PatternKind::kUnknown);
}

}  // namespace
}  // namespace memagent::viewer
