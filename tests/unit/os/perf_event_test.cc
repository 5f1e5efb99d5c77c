#include "agent/os/perf_event.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "agent/os/file.h"

namespace memagent::os {
namespace {

// What the fake kernel saw and what it supports.
struct FakeKernel {
  uint32_t attr_size = sizeof(perf_event_attr);
  bool knows_lost = true;
  std::vector<perf_event_attr> calls;
};
FakeKernel fake;

long FakeOpen(perf_event_attr* attr, const PerfTarget&) {
  fake.calls.push_back(*attr);
  if (attr->size > fake.attr_size) {
    attr->size = fake.attr_size;
    return -E2BIG;
  }
  if (!fake.knows_lost && (attr->read_format & PERF_FORMAT_LOST) != 0) return -EINVAL;
  return 42;
}

TEST(OpenPerfEvent, CurrentKernelIsAskedOnce) {
  fake = {};
  perf_event_attr attr = NewPerfAttr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
  EXPECT_EQ(OpenPerfEvent(attr, {}, FakeOpen), 42);
  EXPECT_EQ(fake.calls.size(), 1u);
  EXPECT_EQ(attr.read_format, kPerfReadFormat);
}

TEST(OpenPerfEvent, OlderKernelGetsItsOwnSize) {
  fake = {.attr_size = PERF_ATTR_SIZE_VER5, .knows_lost = false, .calls = {}};
  perf_event_attr attr = NewPerfAttr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
  EXPECT_EQ(OpenPerfEvent(attr, {}, FakeOpen), 42);
  EXPECT_EQ(attr.size, static_cast<uint32_t>(PERF_ATTR_SIZE_VER5));
  EXPECT_EQ(attr.read_format & PERF_FORMAT_LOST, 0u);
}

TEST(OpenPerfEvent, FieldTheKernelLacksIsNotDroppedSilently) {
  fake = {.attr_size = PERF_ATTR_SIZE_VER5, .knows_lost = true, .calls = {}};
  perf_event_attr attr = NewPerfAttr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
  attr.sig_data = 1;
  EXPECT_EQ(OpenPerfEvent(attr, {}, FakeOpen), -E2BIG);
  EXPECT_EQ(fake.calls.size(), 1u);
}

TEST(OpenPerfEvent, NonsenseSizeFromTheKernelEndsIt) {
  for (const uint32_t size : {0u, 8u}) {
    fake = {.attr_size = size, .knows_lost = true, .calls = {}};
    perf_event_attr attr = NewPerfAttr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
    EXPECT_EQ(OpenPerfEvent(attr, {}, FakeOpen), -E2BIG);
    EXPECT_EQ(attr.size, sizeof(attr));
  }
}

TEST(ParsePerfCounts, FieldsFollowTheReadFormat) {
  const uint64_t words[] = {5, 100, 90, 7, 3};
  const auto counts = ParsePerfCounts(words, kPerfReadFormat);
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(counts->value, 5u);
  EXPECT_EQ(counts->enabled_nanos, 100u);
  EXPECT_EQ(counts->running_nanos, 90u);
  EXPECT_EQ(counts->id, 7u);
  EXPECT_EQ(counts->lost, 3u);
  EXPECT_TRUE(counts->has_lost);
}

TEST(ParsePerfCounts, WithoutLostTheCountIsAbsentNotZero) {
  const uint64_t words[] = {5, 7};
  EXPECT_FALSE(ParsePerfCounts(words, PERF_FORMAT_ID)->has_lost);
}

TEST(ParsePerfCounts, ShortReadsAndGroupsAreRefused) {
  const uint64_t words[] = {5, 100, 90, 7};
  EXPECT_FALSE(ParsePerfCounts(words, kPerfReadFormat).has_value());
  EXPECT_FALSE(ParsePerfCounts({}, 0).has_value());
  EXPECT_FALSE(ParsePerfCounts(words, PERF_FORMAT_GROUP).has_value());
}

TEST(PerfEventLive, MissingThreadIsESRCH) {
  perf_event_attr attr = NewPerfAttr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
  attr.exclude_kernel = 1;
  if (!UniqueFd(OpenPerfEvent(attr, {})).valid()) GTEST_SKIP() << "perf_event_open is refused here";
  EXPECT_EQ(OpenPerfEvent(attr, {.tid = 0x3ffffff}), -ESRCH);
}

TEST(PerfEventLive, IdOfReadAndIoctlAgree) {
  perf_event_attr attr = NewPerfAttr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
  attr.exclude_kernel = 1;
  const UniqueFd fd(OpenPerfEvent(attr, {}));
  if (!fd.valid()) GTEST_SKIP() << "perf_event_open is refused here: " << strerror(fd.error());
  EXPECT_TRUE(PerfEventId(fd.get()).has_value());
  const auto counts = ReadPerfCounts(fd.get(), attr.read_format);
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(counts->id, *PerfEventId(fd.get()));
  EXPECT_EQ(SetPerfPeriod(fd.get(), 0), -EINVAL);
}

}  // namespace
}  // namespace memagent::os
