#include "agent/attribute/region_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace memagent::attribute {
namespace {

using ledger::RegionEvent;
using Kind = RegionEvent::Kind;

constexpr uint64_t kPage = 4096;
constexpr uint64_t kBase = 0x700000000000;
constexpr SiteId kSite{5};
constexpr SiteId kOther{6};

RegionEvent Event(Kind kind, uint64_t tsc, uint64_t first_page, uint64_t pages,
                  SiteId site = SiteId::kUnknown) {
  RegionEvent event = {};
  event.kind = kind;
  event.region = RegionKind::kMmap;
  event.tsc = tsc;
  event.start = kBase + first_page * kPage;
  event.size = pages * kPage;
  event.site = site;
  return event;
}

RegionEvent Remap(uint64_t tsc, uint64_t old_page, uint64_t old_pages, uint64_t page,
                  uint64_t pages, SiteId site) {
  RegionEvent event = Event(Kind::kRemap, tsc, page, pages, site);
  event.old_start = kBase + old_page * kPage;
  event.old_size = old_pages * kPage;
  return event;
}

SiteId SiteAt(const RegionIndex& index, uint64_t page, uint64_t tsc) {
  const auto region = index.Find(kBase + page * kPage + 123, tsc);
  return region ? region->site : SiteId::kUnknown;
}

TEST(RegionIndex, BreakEndsAtItsByteAndShrinks) {
  RegionIndex index;
  RegionEvent event = Event(Kind::kBreak, 100, 0, 0, kSite);
  event.start += 100;
  event.size = 1000;
  index.Apply(event);
  event.start += 1000;
  index.Apply(event);
  event.kind = Kind::kUnmap;
  event.start += 600;
  event.size = 400;
  index.Apply(event);
  const RegionCounts& counts = index.counts().at(static_cast<uint32_t>(kSite));
  EXPECT_EQ(counts.allocations, 2u);
  EXPECT_EQ(counts.frees, 0u);
  EXPECT_EQ(counts.bytes_allocated, 2000u);
  EXPECT_EQ(counts.bytes_freed, 400u);
}

TEST(RegionIndex, MovedFileMappingIsStillAFileMapping) {
  RegionIndex index;
  RegionEvent event = Event(Kind::kMap, 100, 0, 3, kSite);
  event.region = RegionKind::kFile;
  index.Apply(event);
  index.Apply(Remap(200, 0, 3, 10, 3, kOther));
  EXPECT_EQ(SiteAt(index, 10, 200), kOther);
  EXPECT_TRUE(index.counts().empty());  // files are not counted
}

// What munmap by a system call of the program's own has taken away.
TEST(RegionIndex, WhatTheKernelNoLongerListsHasEnded) {
  RegionIndex index;
  index.Apply(Event(Kind::kMap, 100, 0, 10, kSite));
  index.Apply(Event(Kind::kMap, 100, 20, 5, kOther));
  index.Apply(Event(Kind::kMap, 300, 30, 1, kOther));  // newer than the list
  AddressSpace space;
  space.Load(
      "700000001000-700000003000 rw-p 00000000 00:00 0\n"
      "700000006000-70000000f000 rw-p 00000000 00:00 0\n");
  index.KeepMapped(space, 200);
  for (const uint64_t page : {0, 3, 5, 20, 24}) {
    EXPECT_EQ(SiteAt(index, page, 200), SiteId::kUnknown) << page;
    EXPECT_NE(SiteAt(index, page, 199), SiteId::kUnknown) << page;
  }
  for (const uint64_t page : {1, 2, 6, 9}) EXPECT_EQ(SiteAt(index, page, 200), kSite) << page;
  EXPECT_EQ(SiteAt(index, 30, 300), kOther);
  EXPECT_EQ(index.counts().at(static_cast<uint32_t>(kSite)).bytes_freed, 4 * kPage);
  EXPECT_EQ(index.counts().at(static_cast<uint32_t>(kSite)).frees, 0u);
  EXPECT_EQ(index.counts().at(static_cast<uint32_t>(kOther)).frees, 1u);
}

TEST(RegionIndex, MappingIsKnownFromItsBirthToItsDeath) {
  RegionIndex index;
  index.Apply(Event(Kind::kMap, 100, 10, 5, kSite));
  EXPECT_EQ(SiteAt(index, 12, 99), SiteId::kUnknown);
  EXPECT_EQ(SiteAt(index, 12, 100), kSite);
  EXPECT_EQ(SiteAt(index, 9, 100), SiteId::kUnknown);
  EXPECT_EQ(SiteAt(index, 15, 100), SiteId::kUnknown);
  index.Apply(Event(Kind::kUnmap, 200, 10, 5));
  EXPECT_EQ(SiteAt(index, 12, 199), kSite);
  EXPECT_EQ(SiteAt(index, 12, 200), SiteId::kUnknown);
  index.ForgetBefore(200);
  EXPECT_EQ(SiteAt(index, 12, 199), kSite);
  index.ForgetBefore(201);
  EXPECT_EQ(SiteAt(index, 12, 199), SiteId::kUnknown);
}

TEST(RegionIndex, SizeIsRoundedUpToPages) {
  RegionIndex index;
  RegionEvent event = Event(Kind::kMap, 1, 0, 1, kSite);
  event.size = 100;
  index.Apply(event);
  EXPECT_TRUE(index.Find(kBase + kPage - 1, 1).has_value());
  EXPECT_FALSE(index.Find(kBase + kPage, 1).has_value());
  event.kind = Kind::kUnmap;
  event.tsc = 2;
  index.Apply(event);
  EXPECT_FALSE(index.Find(kBase + kPage - 1, 2).has_value());
}

TEST(RegionIndex, OverlayReplacesTheMiddleOnly) {
  RegionIndex index;
  index.Apply(Event(Kind::kMap, 1, 0, 10, kSite));
  index.Apply(Event(Kind::kMap, 2, 3, 4, kOther));
  for (uint64_t page = 0; page < 10; ++page) {
    EXPECT_EQ(SiteAt(index, page, 1), kSite) << page;
    EXPECT_EQ(SiteAt(index, page, 2), page >= 3 && page < 7 ? kOther : kSite) << page;
  }
}

TEST(RegionIndex, HoleLeavesBothEnds) {
  RegionIndex index;
  index.Apply(Event(Kind::kMap, 1, 0, 10, kSite));
  index.Apply(Event(Kind::kUnmap, 2, 4, 2));
  EXPECT_EQ(SiteAt(index, 3, 3), kSite);
  EXPECT_EQ(SiteAt(index, 4, 3), SiteId::kUnknown);
  EXPECT_EQ(SiteAt(index, 5, 3), SiteId::kUnknown);
  EXPECT_EQ(SiteAt(index, 6, 3), kSite);
  EXPECT_EQ(SiteAt(index, 4, 1), kSite);
}

TEST(RegionIndex, UnmapMayCoverManyMappings) {
  RegionIndex index;
  for (uint32_t i = 0; i < 5; ++i) index.Apply(Event(Kind::kMap, 1, i * 3, 2, SiteId{i + 1}));
  index.Apply(Event(Kind::kUnmap, 2, 1, 12));
  EXPECT_EQ(SiteAt(index, 0, 2), SiteId{1});
  for (uint64_t page = 1; page < 13; ++page) EXPECT_EQ(SiteAt(index, page, 2), SiteId::kUnknown);
  EXPECT_EQ(SiteAt(index, 13, 2), SiteId{5});
}

TEST(RegionIndex, MoveEndsTheOldPlaceAndGivesTheNewOneToTheCaller) {
  RegionIndex index;
  index.Apply(Event(Kind::kMap, 1, 0, 4, kSite));
  index.Apply(Remap(2, 0, 4, 100, 8, kOther));
  EXPECT_EQ(SiteAt(index, 2, 1), kSite);
  EXPECT_EQ(SiteAt(index, 2, 2), SiteId::kUnknown);
  EXPECT_EQ(SiteAt(index, 107, 2), kOther);
  EXPECT_EQ(SiteAt(index, 107, 1), SiteId::kUnknown);
}

TEST(RegionIndex, ShrinkInPlaceGivesBackTheTail) {
  RegionIndex index;
  index.Apply(Event(Kind::kMap, 1, 0, 8, kSite));
  index.Apply(Remap(2, 0, 8, 0, 3, kOther));
  EXPECT_EQ(SiteAt(index, 2, 2), kOther);
  EXPECT_EQ(SiteAt(index, 3, 2), SiteId::kUnknown);
}

TEST(RegionIndex, RemapOfSizeZeroDuplicatesAndKeepsTheOld) {
  RegionIndex index;
  index.Apply(Event(Kind::kMap, 1, 0, 8, kSite));
  index.Apply(Remap(2, 3, 0, 100, 8, kOther));
  for (uint64_t page = 0; page < 8; ++page) EXPECT_EQ(SiteAt(index, page, 3), kSite);
  EXPECT_EQ(SiteAt(index, 100, 3), kOther);
  index.Apply(Event(Kind::kUnmap, 4, 0, 8));
  EXPECT_EQ(index.counts().at(5).frees, 1u);
}

TEST(RegionIndex, DetachEndsTheWholeSegment) {
  RegionIndex index;
  index.Apply(Event(Kind::kAttach, 1, 0, 8, kSite));
  index.Apply(Event(Kind::kDetach, 2, 0, 0));
  EXPECT_EQ(SiteAt(index, 7, 1), kSite);
  EXPECT_EQ(SiteAt(index, 7, 2), SiteId::kUnknown);
  index.Apply(Event(Kind::kDetach, 3, 50, 0));  // nothing there
}

TEST(RegionIndex, CountsSayWhatTheEventsDid) {
  RegionIndex index;
  index.Apply(Event(Kind::kMap, 1, 0, 10, kSite));
  index.Apply(Event(Kind::kMap, 2, 20, 10, kSite));
  index.Apply(Event(Kind::kUnmap, 3, 0, 10));
  index.Apply(Event(Kind::kUnmap, 4, 20, 4));
  const RegionCounts& counts = index.counts().at(5);
  EXPECT_EQ(counts.allocations, 2u);
  EXPECT_EQ(counts.frees, 1u);
  EXPECT_EQ(counts.bytes_allocated, 20 * kPage);
  EXPECT_EQ(counts.bytes_freed, 14 * kPage);
  EXPECT_EQ(counts.bytes_peak, 20 * kPage);
}

TEST(RegionIndex, SplitMappingIsFreedOnceWithItsLastPiece) {
  RegionIndex index;
  index.Apply(Event(Kind::kMap, 1, 0, 10, kSite));
  index.Apply(Event(Kind::kUnmap, 2, 2, 2));
  index.Apply(Event(Kind::kUnmap, 3, 6, 2));
  EXPECT_EQ(index.counts().at(5).frees, 0u);
  index.Apply(Event(Kind::kUnmap, 4, 4, 2));
  index.Apply(Event(Kind::kUnmap, 5, 0, 2));
  EXPECT_EQ(index.counts().at(5).frees, 0u);
  index.Apply(Event(Kind::kUnmap, 6, 8, 2));
  EXPECT_EQ(index.counts().at(5).frees, 1u);
  EXPECT_EQ(index.counts().at(5).bytes_freed, index.counts().at(5).bytes_allocated);
}

TEST(RegionIndex, FileMappingsAreFoundButNotCounted) {
  RegionIndex index;
  RegionEvent event = Event(Kind::kMap, 1, 0, 4, kSite);
  event.region = RegionKind::kFile;
  index.Apply(event);
  EXPECT_EQ(SiteAt(index, 0, 1), kSite);
  index.Apply(Event(Kind::kUnmap, 2, 0, 4));
  EXPECT_TRUE(index.counts().empty());
}

// Random maps, holes and moves against one entry for each page and moment.
TEST(RegionIndex, RandomEventsAgreeWithAPageTable) {
  constexpr uint64_t kPages = 64;
  constexpr uint64_t kEvents = 400;
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    std::mt19937 random(seed);
    RegionIndex index;
    std::vector<std::vector<SiteId>> pages(kEvents + 1, std::vector<SiteId>(kPages));
    for (uint64_t tsc = 1; tsc <= kEvents; ++tsc) {
      auto& now = pages[tsc] = pages[tsc - 1];
      const uint64_t first = random() % kPages;
      const uint64_t count = 1 + random() % (kPages - first);
      const SiteId site{1 + static_cast<uint32_t>(random() % 50)};
      const bool map = random() % 2 == 0;
      index.Apply(Event(map ? Kind::kMap : Kind::kUnmap, tsc, first, count, site));
      for (uint64_t page = first; page < first + count; ++page) {
        now[page] = map ? site : SiteId::kUnknown;
      }
    }
    for (uint64_t tsc = 0; tsc <= kEvents; ++tsc) {
      for (uint64_t page = 0; page < kPages; ++page) {
        ASSERT_EQ(SiteAt(index, page, tsc), pages[tsc][page]) << seed << " " << tsc << " " << page;
      }
    }
    index.Apply(Event(Kind::kUnmap, kEvents + 1, 0, kPages));
    for (const auto& [site, counts] : index.counts()) {
      EXPECT_EQ(counts.frees, counts.allocations);
      EXPECT_EQ(counts.bytes_freed, counts.bytes_allocated);
    }
  }
}

}  // namespace
}  // namespace memagent::attribute
