#include "viewer/advice_placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/viewer/advised_site.h"
#include "viewer/advice_rules.h"

namespace memagent::viewer {
namespace {

using testing::ElementsAre;

std::string PlacedAs(PlacedSite& site, AdviceKind kind, std::vector<int32_t> nodes) {
  const View view = site.Build();
  Advice advice;
  advice.kind = kind;
  advice.nodes = std::move(nodes);
  return PlacementOf(view, view.sites.at(0), advice);
}

TEST(AdvicePlacement, NodesAreListedUnlessAllWithMemoryAreMeant) {
  PlacedSite site(3);
  EXPECT_EQ(PlacedAs(site, AdviceKind::kInterleave, {0, 1, 2}), "interleave");
  EXPECT_EQ(PlacedAs(site, AdviceKind::kInterleave, {0, 2}), "interleave:0+2");
  EXPECT_EQ(PlacedAs(site, AdviceKind::kBlock, {0, 2, 1}), "block:0+2+1");
  site.machine().mutable_nodes(1)->set_memory_total_bytes(0);
  EXPECT_EQ(PlacedAs(site, AdviceKind::kBlock, {0, 2}), "block");
}

TEST(AdvicePlacement, NodeToBindToIsAlwaysNamed) {
  PlacedSite site(2);
  site.machine().mutable_nodes(1)->set_memory_total_bytes(0);
  EXPECT_EQ(PlacedAs(site, AdviceKind::kBind, {0}), "bind:0");
}

// The agent never cuts a mapping of the program's own.
TEST(AdvicePlacement, MappingsAreNotCutInParts) {
  PlacedSite site;
  site.Kind(v1::MMAP);
  EXPECT_EQ(PlacedAs(site, AdviceKind::kBlock, {0, 1}), "");
  EXPECT_EQ(PlacedAs(site, AdviceKind::kBind, {1}), "bind:1");
  EXPECT_EQ(PlacedAs(site, AdviceKind::kInterleave, {0, 1}), "interleave");
  EXPECT_EQ(PlacedAs(site, AdviceKind::kSmallPages, {}), "nohuge");
}

TEST(AdvicePlacement, WhatTheProgramMustDoHasNoRule) {
  PlacedSite site;
  EXPECT_EQ(PlacedAs(site, AdviceKind::kTouchInParallel, {}), "");
  EXPECT_EQ(PlacedAs(site, AdviceKind::kReplicate, {}), "");
  EXPECT_EQ(PlacedAs(site, AdviceKind::kPinThreads, {}), "");
}

TEST(AdviceRules, MappingInPartsIsLeftToTheProgram) {
  PlacedSite site;
  site.Kind(v1::MMAP).Use(0, 0, 0, 992).Use(1, 1, 0, 992).Touch(0, 0, 4000).Parts({0, 1}, 0, 31);
  const Given given = AdviceOn(site);
  EXPECT_EQ(given.First().kind, AdviceKind::kBlock);
  EXPECT_THAT(RulesOf(given.view, "p", 64).rules, ElementsAre());
}

// `count` sites of which each gains more than the one before.
View ManySites(int count) {
  ProfileBuilder b;
  FillHeader(b, 2);
  const uint32_t app = b.Module("/opt/demo/stencil");
  const uint32_t thread = b.Thread(4711, "main", true);
  uint64_t samples = 0;
  for (int i = 0; i < count; ++i) {
    const uint32_t frame = b.Frame(app, 0x1000 + 16 * static_cast<uint64_t>(i), "allocate");
    v1::SiteTotal& total = b.SiteTotal(b.Site(v1::HEAP, b.Stack({frame})));
    SetMemory(total, 1, 0, 1 << 20, 0, 1 << 20);
    AddUse(total, thread, 1, 0, 1000 + static_cast<uint64_t>(i));
    SetEvidence(total, 1000 + static_cast<uint64_t>(i), 0, 0);
    samples += 1000 + static_cast<uint64_t>(i);
  }
  v1::Accounting& all = *b.totals().mutable_accounting();
  all.set_samples_seen(samples);
  all.set_attributed(samples);
  all.set_evidence_exact(samples);
  return ViewOf(b.Bytes());
}

TEST(AdviceRules, LargestGainsAreKeptAndTheRestCounted) {
  const View view = ManySites(70);
  const AdvisedRules advised = RulesOf(view, "p", 64);
  ASSERT_EQ(advised.rules.size(), 64u);
  EXPECT_EQ(advised.left_out, 6u);
  EXPECT_EQ(advised.rules.front(), "S1@p=bind:1");
  EXPECT_EQ(advised.rules.back(), "S64@p=bind:1");
}

}  // namespace
}  // namespace memagent::viewer
