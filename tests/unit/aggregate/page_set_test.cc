#include "agent/aggregate/page_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace memagent::aggregate {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kBlock = uint64_t{32} << 20;

TEST(PageSet, PageIsNewOnce) {
  PageSet pages;
  EXPECT_TRUE(pages.Insert(0x1000));
  EXPECT_FALSE(pages.Insert(0x1fff));
  EXPECT_TRUE(pages.Insert(0x2000));
  EXPECT_TRUE(pages.Insert(0));
}

TEST(PageSet, OnlyWholePagesAreErased) {
  PageSet pages;
  for (uint64_t page = 0; page < 4; ++page) pages.Insert(page * kPage);
  pages.EraseRange(100, 3 * kPage);  // pages 1 and 2 lie wholly inside
  EXPECT_FALSE(pages.Insert(0));
  EXPECT_TRUE(pages.Insert(1 * kPage));
  EXPECT_TRUE(pages.Insert(2 * kPage));
  EXPECT_FALSE(pages.Insert(3 * kPage));
}

TEST(PageSet, RangeInsideAPageErasesNothing) {
  PageSet pages;
  pages.Insert(0x5000);
  pages.EraseRange(0x5001, kPage - 2);
  pages.EraseRange(0x5000, 0);
  EXPECT_FALSE(pages.Insert(0x5000));
}

TEST(PageSet, EraseAcrossBlocksKeepsBothNeighbours) {
  PageSet pages;
  const uint64_t start = 3 * kBlock - 2 * kPage;
  const uint64_t end = 5 * kBlock + 2 * kPage;
  for (uint64_t at = start - kPage; at <= end; at += kPage) pages.Insert(at);
  pages.EraseRange(start, end - start);
  EXPECT_FALSE(pages.Insert(start - kPage));
  EXPECT_FALSE(pages.Insert(end));
  for (uint64_t at = start; at < end; at += kPage) ASSERT_TRUE(pages.Insert(at)) << at;
}

TEST(PageSet, RandomUseAgreesWithASet) {
  std::mt19937_64 random(7);
  PageSet pages;
  std::set<uint64_t> model;
  for (int i = 0; i < 50'000; ++i) {
    const uint64_t address = random() % (2 * kBlock);
    if (random() % 50 != 0) {
      ASSERT_EQ(pages.Insert(address), model.insert(address / kPage).second);
      continue;
    }
    const uint64_t size = random() % (200 * kPage);
    pages.EraseRange(address, size);
    for (auto it = model.lower_bound((address + kPage - 1) / kPage);
         it != model.end() && (*it + 1) * kPage <= address + size;) {
      it = model.erase(it);
    }
  }
}

}  // namespace
}  // namespace memagent::aggregate
