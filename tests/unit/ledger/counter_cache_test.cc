#include "agent/ledger/counter_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "agent/ledger/site_table.h"

namespace memagent::ledger {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// Two sites that need the same entry of the cache.
std::pair<SiteId, SiteId> CollidingSites() {
  const SiteId first = NewSite(RegionKind::kGlobal);
  SiteId second = first;
  do {
    second = NewSite(RegionKind::kGlobal);
  } while (static_cast<uint32_t>(second) % CounterCache::kEntries !=
           static_cast<uint32_t>(first) % CounterCache::kEntries);
  return {first, second};
}

TEST(CounterCache, FlushMovesEveryCountOnce) {
  auto cache = std::make_unique<CounterCache>();
  const SiteId site = NewSite(RegionKind::kGlobal);
  cache->CountAllocation(site, 100);
  cache->CountAllocation(site, 50);
  cache->CountFree(site, 100);
  const SiteCounters& total = *CountersOf(site);
  EXPECT_EQ(total.allocations.load(), 0u);
  cache->FlushAll();
  cache->FlushAll();
  EXPECT_EQ(total.allocations.load(), 2u);
  EXPECT_EQ(total.frees.load(), 1u);
  EXPECT_EQ(total.bytes_allocated.load(), 150u);
  EXPECT_EQ(total.bytes_freed.load(), 100u);
  EXPECT_EQ(total.bytes_peak.load(), 150);
}

TEST(CounterCache, SitesThatShareAnEntryPushEachOtherOut) {
  auto cache = std::make_unique<CounterCache>();
  const auto [first, second] = CollidingSites();
  for (int i = 0; i < 1000; ++i) {
    cache->CountAllocation(first, 10);
    cache->CountAllocation(second, 20);
    cache->CountFree(first, 10);
  }
  cache->FlushAll();
  EXPECT_EQ(CountersOf(first)->allocations.load(), 1000u);
  EXPECT_EQ(CountersOf(first)->frees.load(), 1000u);
  EXPECT_EQ(CountersOf(first)->bytes_peak.load(), 10);
  EXPECT_EQ(CountersOf(second)->bytes_allocated.load(), 20'000u);
  EXPECT_EQ(CountersOf(second)->bytes_peak.load(), 20'000);
}

TEST(CounterCache, FreeTakenBackAfterAFlushLeavesNoTrace) {
  auto cache = std::make_unique<CounterCache>();
  const SiteId site = NewSite(RegionKind::kGlobal);
  cache->CountAllocation(site, 100);
  cache->CountFree(site, 100);
  cache->FlushAll();
  cache->UncountFree(site, 100);
  cache->FlushAll();
  EXPECT_EQ(CountersOf(site)->frees.load(), 0u);
  EXPECT_EQ(CountersOf(site)->bytes_freed.load(), 0u);
  EXPECT_EQ(CountersOf(site)->bytes_peak.load(), 100);
}

TEST(CounterCache, FreesOfAnotherThreadsBlocksMayExceedTheAllocations) {
  auto owner = std::make_unique<CounterCache>();
  auto other = std::make_unique<CounterCache>();
  const SiteId site = NewSite(RegionKind::kGlobal);
  owner->CountAllocation(site, 100);
  other->CountFree(site, 100);
  other->FlushAll();
  owner->FlushAll();
  EXPECT_EQ(CountersOf(site)->bytes_allocated.load(), 100u);
  EXPECT_EQ(CountersOf(site)->bytes_freed.load(), 100u);
}

TEST(CounterCache, PeakOfOneThreadIsExactWhereverFlushesFall) {
  std::mt19937 random(3);
  auto cache = std::make_unique<CounterCache>();
  const auto [site, intruder] = CollidingSites();
  std::vector<uint64_t> live;
  int64_t bytes = 0;
  int64_t peak = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 2 == 0 || live.empty()) {
      live.push_back(random() % 1000);
      bytes += static_cast<int64_t>(live.back());
      cache->CountAllocation(site, live.back());
    } else {
      bytes -= static_cast<int64_t>(live.back());
      cache->CountFree(site, live.back());
      live.pop_back();
    }
    peak = std::max(peak, bytes);
    if (random() % 50 == 0) cache->CountAllocation(intruder, 1);
  }
  cache->FlushAll();
  EXPECT_EQ(CountersOf(site)->bytes_peak.load(), peak);
  EXPECT_EQ(static_cast<int64_t>(CountersOf(site)->bytes_allocated.load() -
                                 CountersOf(site)->bytes_freed.load()),
            bytes);
}

TEST(CounterCache, ForEachShowsWhatIsNotFlushedYet) {
  auto cache = std::make_unique<CounterCache>();
  const SiteId site = NewSite(RegionKind::kGlobal);
  cache->CountAllocation(site, 100);
  int entries = 0;
  cache->ForEach([&](SiteId id, const SiteDelta& delta) {
    ++entries;
    EXPECT_EQ(id, site);
    EXPECT_EQ(delta.allocations.load(kRelaxed), 1u);
    EXPECT_EQ(delta.bytes_allocated.load(kRelaxed), 100u);
    EXPECT_EQ(delta.peak.load(kRelaxed), 100);
  });
  EXPECT_EQ(entries, 1);
}

TEST(CounterCache, ThreadsThatShareSitesLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20'000;
  const auto [first, second] = CollidingSites();
  std::vector<std::unique_ptr<CounterCache>> caches;
  for (int i = 0; i < kThreads; ++i) caches.push_back(std::make_unique<CounterCache>());
  std::vector<std::thread> threads;
  for (auto& cache : caches) {
    threads.emplace_back([&cache, first = first, second = second] {
      for (int i = 0; i < kRounds; ++i) {
        cache->CountAllocation(first, 8);
        if (i % 16 == 0) cache->CountAllocation(second, 16);
        cache->CountFree(first, 8);
      }
      cache->FlushAll();
    });
  }
  uint64_t seen = 0;
  for (int i = 0; i < 100; ++i) {  // the drain thread reads meanwhile
    for (const auto& cache : caches) {
      cache->ForEach([&](SiteId, const SiteDelta& delta) { seen += delta.bytes_freed; });
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(CountersOf(first)->allocations.load(), uint64_t{kThreads} * kRounds);
  EXPECT_EQ(CountersOf(first)->frees.load(), uint64_t{kThreads} * kRounds);
  EXPECT_EQ(CountersOf(second)->bytes_allocated.load(), uint64_t{kThreads} * kRounds);
  EXPECT_GE(CountersOf(first)->bytes_peak.load(), 8);
  EXPECT_LE(CountersOf(first)->bytes_peak.load(), int64_t{kThreads} * kThreads * 8);
}

}  // namespace
}  // namespace memagent::ledger
