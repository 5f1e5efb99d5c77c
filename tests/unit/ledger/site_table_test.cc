#include "agent/ledger/site_table.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace memagent::ledger {
namespace {

TEST(SiteTable, StackAndKindMakeOneSite) {
  const SiteId heap = SiteOfStack(RegionKind::kHeap, StackId{40});
  EXPECT_NE(heap, SiteId::kUnknown);
  EXPECT_EQ(SiteOfStack(RegionKind::kHeap, StackId{40}), heap);
  std::set<SiteId> sites = {heap};
  for (RegionKind kind : {RegionKind::kMmap, RegionKind::kBrk, RegionKind::kShm}) {
    const SiteId site = SiteOfStack(kind, StackId{40});
    EXPECT_TRUE(sites.insert(site).second);
    EXPECT_EQ(SiteOfStack(kind, StackId{40}), site);
    EXPECT_EQ(CountersOf(site)->kind, kind);
    EXPECT_EQ(CountersOf(site)->stack, StackId{40});
  }
}

TEST(SiteTable, StackBeyondTheTableIsUnknown) {
  EXPECT_EQ(SiteOfStack(RegionKind::kHeap, StackId{kMaxStacks}), SiteId::kUnknown);
  EXPECT_NE(SiteOfStack(RegionKind::kHeap, StackId{kMaxStacks - 1}), SiteId::kUnknown);
}

TEST(SiteTable, NewSiteHasNoStack) {
  const SiteId site = NewSite(RegionKind::kGlobal);
  EXPECT_NE(NewSite(RegionKind::kGlobal), site);
  EXPECT_EQ(CountersOf(site)->kind, RegionKind::kGlobal);
  EXPECT_EQ(CountersOf(site)->stack, StackId::kNone);
}

TEST(SiteTable, UnknownSiteHasNoCounters) {
  EXPECT_EQ(CountersOf(SiteId::kUnknown), nullptr);
  EXPECT_EQ(CountersOf(SiteId{kMaxSites + 1}), nullptr);
  EXPECT_EQ(CountersOf(SiteId{kMaxSites}), nullptr);  // no test gives out that many
}

TEST(SiteTable, ThreadsThatMeetAStackAgreeOnItsSite) {
  constexpr uint32_t kStacks = 3000;
  constexpr uint32_t kFirst = 100'000;
  constexpr size_t kThreads = 4;
  std::vector<std::vector<SiteId>> found(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : found) {
    threads.emplace_back([&mine] {
      for (uint32_t i = 0; i < kStacks; ++i) {
        mine.push_back(SiteOfStack(RegionKind::kHeap, StackId{kFirst + i}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<SiteId> different(found[0].begin(), found[0].end());
  EXPECT_EQ(different.size(), kStacks);
  for (const auto& mine : found) EXPECT_EQ(mine, found[0]);
  for (uint32_t i = 0; i < kStacks; ++i) {
    EXPECT_EQ(CountersOf(found[0][i])->stack, StackId{kFirst + i});
  }
  uint32_t with_stack = 0;
  for (uint32_t id = 1; id <= SiteCount(); ++id) {
    const SiteCounters* site = CountersOf(SiteId{id});
    ASSERT_NE(site, nullptr);
    const auto stack = static_cast<uint32_t>(site->stack);
    if (site->kind != RegionKind::kUnknown && stack >= kFirst && stack < kFirst + kStacks)
      ++with_stack;
  }
  EXPECT_EQ(with_stack, kStacks);  // ids lost in a race have no kind
}

}  // namespace
}  // namespace memagent::ledger
