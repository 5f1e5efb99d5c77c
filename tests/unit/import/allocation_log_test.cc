#include "viewer/import/allocation_log.h"

#include <gtest/gtest.h>

#include "tests/unit/import/import_fixture.h"
#include "viewer/import/logged_blocks.h"

namespace memagent::importer {
namespace {

TEST(AllocationLog, LinesAreEventsInTheOrderOfTheirTimes) {
  const AllocationLog log = ParseAllocationLog(
      "# made by a tracer\n"
      "\n"
      "2.5 10 free 0x1000\n"
      "1.000000001 10 alloc 0x1000 64 grid;main\n"
      "\t3 11 alloc 8192 0x20\r\n");
  EXPECT_EQ(log.bad_lines, 0u);
  ASSERT_EQ(log.events.size(), 3u);
  EXPECT_EQ(log.events[0].time_nanos, 1'000'000'001u);
  EXPECT_EQ(log.events[0].address, 0x1000u);
  EXPECT_EQ(log.events[0].size_bytes, 64u);
  EXPECT_EQ(log.names[log.events[0].name], "grid;main");
  EXPECT_TRUE(log.events[1].is_free);
  EXPECT_EQ(log.events[1].time_nanos, 2'500'000'000u);
  EXPECT_EQ(log.events[2].pid, 11);
  EXPECT_EQ(log.events[2].address, 8192u);
  EXPECT_EQ(log.events[2].size_bytes, 32u);
  EXPECT_EQ(log.names[log.events[2].name], "[allocations without a site]");
}

TEST(AllocationLog, DigitsBeyondNanosecondsAreLeftOut) {
  const AllocationLog log = ParseAllocationLog("0.1234567899 1 free 1");
  ASSERT_EQ(log.events.size(), 1u);
  EXPECT_EQ(log.events[0].time_nanos, 123'456'789u);
}

TEST(AllocationLog, LinesOfNoFormAreCounted) {
  const AllocationLog log = ParseAllocationLog(
      "1 10 free 4096\n"
      "x 10 free 4096\n"
      "1 10 free\n"
      "1 10 free 4096 64\n"
      "1 10 alloc 4096\n"
      "1 10 alloc 0xffffffffffffffff 2\n"
      "1.x 10 free 4096\n"
      "-1 10 free 4096\n"
      "99999999999999999999 10 free 4096\n"
      "18446744073 10 free 4096\n"
      "1 10 realloc 4096 1\n");
  EXPECT_EQ(log.events.size(), 1u);
  EXPECT_EQ(log.bad_lines, 10u);
  EXPECT_EQ(log.first_bad_line, 2u);
}

TEST(AllocationLog, NoTextIsAnEmptyLog) { EXPECT_TRUE(ParseAllocationLog("").events.empty()); }

TEST(LoggedBlocks, BlockIsThereFromItsAllocationToItsFree) {
  const AllocationLog log = ParseAllocationLog(
      "1 10 alloc 4096 64 first\n"
      "2 10 free 4096\n"
      "2 10 alloc 4096 32 second\n");
  LoggedBlocks blocks(log);
  EXPECT_FALSE(blocks.Find(10, 4096));
  blocks.Advance(1'000'000'000);
  EXPECT_EQ(blocks.Find(10, 4096), 0u);
  EXPECT_EQ(blocks.Find(10, 4096 + 63), 0u);
  EXPECT_FALSE(blocks.Find(10, 4096 + 64));
  EXPECT_FALSE(blocks.Find(10, 4095));
  EXPECT_FALSE(blocks.Find(11, 4096)) << "of another process";
  blocks.Advance(UINT64_MAX);
  EXPECT_EQ(blocks.Find(10, 4096), 1u);
  EXPECT_FALSE(blocks.Find(10, 4096 + 32));
  EXPECT_EQ(blocks.counts()[0].frees, 1u);
  EXPECT_EQ(blocks.counts()[0].bytes_freed, 64u);
  EXPECT_EQ(blocks.counts()[1].bytes_peak, 32u);
  EXPECT_EQ(blocks.contradictions(), 0u);
}

TEST(LoggedBlocks, BlockOverLiveOnesEndsTheseAndIsCounted) {
  const AllocationLog log = ParseAllocationLog(
      "1 10 alloc 4096 64 a\n"
      "1 10 alloc 4160 64 b\n"
      "1 10 alloc 4224 64 c\n"
      "2 10 alloc 4128 64 d\n"
      "3 10 free 4096\n"
      "3 10 free 0\n");
  LoggedBlocks blocks(log);
  blocks.Advance(2'000'000'000);
  EXPECT_FALSE(blocks.Find(10, 4096));
  EXPECT_EQ(blocks.Find(10, 4128), 3u);
  EXPECT_FALSE(blocks.Find(10, 4192));
  EXPECT_EQ(blocks.Find(10, 4224), 2u);
  EXPECT_EQ(blocks.contradictions(), 2u);
  blocks.Advance(UINT64_MAX);
  EXPECT_EQ(blocks.contradictions(), 3u) << "a free of what is not live, not that of no block";
}

TEST(LoggedBlocks, BlockAtTheEndOfTheAddressSpaceIsFound) {
  const AllocationLog log = ParseAllocationLog("1 10 alloc 0xfffffffffffffff0 15 last");
  LoggedBlocks blocks(log);
  blocks.Advance(UINT64_MAX);
  EXPECT_EQ(blocks.Find(10, 0xfffffffffffffffe), 0u);
  EXPECT_FALSE(blocks.Find(10, UINT64_MAX));
}

Import ImportWithLog(std::string_view log) {
  PerfDataBuilder file = IntelMachine();
  for (const uint64_t time : {1000, 2000, 3000}) {
    file.Add(Record(Sample{.time = time, .address = 0x800100}));
  }
  ImportOptions options;
  options.allocations = ParseAllocationLog(log);
  return ImportBytes(file.File(), options);
}

TEST(ImportWithAllocations, SamplesAreBookedOnTheBlockThatLivedThen) {
  const Import import = ImportWithLog(
      "0.000001500 10 alloc 0x800000 512 grid;main\n"
      "0.000002500 10 free 0x800000\n"
      "0.000002600 10 alloc 0x900000 16 unused;main\n");
  EXPECT_EQ(SamplesOf(import.profile, "grid;main"), 1u);
  EXPECT_EQ(SamplesOf(import.profile, "[heap]"), 2u);
  const profile::Site& grid = *SiteNamed(import.profile, "grid;main");
  EXPECT_EQ(grid.site.kind(), v1::HEAP);
  EXPECT_EQ(grid.total.allocations(), 1u);
  EXPECT_EQ(grid.total.frees(), 1u);
  EXPECT_EQ(grid.total.bytes_peak(), 512u);
  const profile::Site* unused = SiteNamed(import.profile, "unused;main");
  ASSERT_NE(unused, nullptr);
  EXPECT_EQ(unused->total.samples(), 0u);
  EXPECT_EQ(unused->total.bytes_allocated(), 16u);
  EXPECT_TRUE(import.result.notes.empty());
  ExpectAccounted(import.profile);
}

TEST(ImportWithAllocations, WhatIsWrongWithTheLogIsSaid) {
  const Import import = ImportWithLog(
      "5 10 alloc 0x800000 512 grid\n"
      "5 10 alloc 0x800000 512 grid\n"
      "nonsense\n");
  EXPECT_TRUE(HasNote(import.result, "1 lines of the allocation log are not understood"));
  EXPECT_TRUE(HasNote(import.result, "the first is line 3"));
  EXPECT_TRUE(HasNote(import.result, "of another time than the recording"));
  EXPECT_TRUE(HasNote(import.result, "1 events of the allocation log contradict"));
}

}  // namespace
}  // namespace memagent::importer
