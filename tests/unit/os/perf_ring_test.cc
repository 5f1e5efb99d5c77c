#include "agent/os/perf_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

namespace memagent::os {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A ring in ordinary memory, written as the kernel would.
class FakeRing {
 public:
  explicit FakeRing(size_t bytes) : data_(bytes) {}

  PerfRing Reader() { return PerfRing(&control_, data_.data(), data_.size()); }

  // Writes a record of `size` bytes whose body is filled with `fill`.
  void Write(uint8_t fill, uint16_t size) {
    std::vector<uint8_t> record(size, fill);
    const perf_event_header header = {PERF_RECORD_SAMPLE, 0, size};
    memcpy(record.data(), &header, sizeof(header));
    WriteBytes(record);
  }
  void WriteBytes(const std::vector<uint8_t>& bytes) {
    for (const uint8_t byte : bytes) data_[control_.data_head++ % data_.size()] = byte;
  }
  void StartAt(uint64_t position) { control_.data_head = control_.data_tail = position; }
  uint64_t tail() const { return control_.data_tail; }
  uint64_t head() const { return control_.data_head; }
  void SetHead(uint64_t head) { control_.data_head = head; }

 private:
  perf_event_mmap_page control_ = {};
  std::vector<uint8_t> data_;
};

// Fill byte and size of each record that Drain gives, as fill * 10000 + size.
std::vector<int> DrainAll(PerfRing& ring) {
  std::vector<int> seen;
  ring.Drain([&](std::span<const uint8_t> record) {
    for (size_t i = 8; i < record.size(); ++i) EXPECT_EQ(record[i], record[8]);
    const int fill = record.size() > 8 ? record[8] : 0;
    seen.push_back(fill * 10000 + static_cast<int>(record.size()));
  });
  return seen;
}

TEST(PerfRing, RecordsComeInOrderAndRoomIsHandedBack) {
  FakeRing fake(256);
  PerfRing ring = fake.Reader();
  fake.Write(1, 16);
  fake.Write(2, 48);
  fake.Write(3, 8);
  EXPECT_EQ(ring.UnreadBytes(), 72u);
  EXPECT_THAT(DrainAll(ring), ElementsAre(10016, 20048, 8));
  EXPECT_EQ(fake.tail(), fake.head());
  EXPECT_THAT(DrainAll(ring), IsEmpty());
}

TEST(PerfRing, RecordThatWrapsIsWhole) {
  for (uint64_t start = 0; start < 128; start += 8) {
    FakeRing fake(128);
    PerfRing ring = fake.Reader();
    fake.StartAt(start);
    fake.Write(7, 64);
    fake.Write(9, 56);
    EXPECT_THAT(DrainAll(ring), ElementsAre(70064, 90056)) << start;
  }
}

TEST(PerfRing, IndexPastItsRangeWraps) {
  FakeRing fake(128);
  PerfRing ring = fake.Reader();
  fake.StartAt(UINT64_MAX - 23);  // a multiple of 8
  fake.Write(4, 40);
  EXPECT_THAT(DrainAll(ring), ElementsAre(40040));
  EXPECT_EQ(ring.state(), RingState::kOk);
}

TEST(PerfRing, SizeBelowAHeaderIsCorrupt) {
  for (const uint8_t size : {0, 7, 12}) {
    FakeRing fake(128);
    PerfRing ring = fake.Reader();
    fake.Write(1, 16);
    fake.WriteBytes({9, 0, 0, 0, 0, 0, size, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    EXPECT_THAT(DrainAll(ring), ElementsAre(10016));
    EXPECT_EQ(ring.state(), RingState::kCorrupt);
    fake.Write(1, 16);
    EXPECT_THAT(DrainAll(ring), IsEmpty()) << "a corrupt ring is never read again";
  }
}

TEST(PerfRing, SizeBeyondTheHeadIsCorrupt) {
  FakeRing fake(128);
  PerfRing ring = fake.Reader();
  fake.WriteBytes({9, 0, 0, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_THAT(DrainAll(ring), IsEmpty());
  EXPECT_EQ(ring.state(), RingState::kCorrupt);
}

TEST(PerfRing, HeadFurtherThanTheRingIsCorrupt) {
  FakeRing fake(128);
  PerfRing ring = fake.Reader();
  fake.SetHead(136);
  EXPECT_THAT(DrainAll(ring), IsEmpty());
  EXPECT_EQ(ring.state(), RingState::kCorrupt);
}

TEST(PerfRing, RecordTooLongForUsIsPassedOverAndCounted) {
  FakeRing fake(16384);
  PerfRing ring = fake.Reader();
  fake.Write(1, 8000);
  fake.Write(2, 16);
  EXPECT_THAT(DrainAll(ring), ElementsAre(20016));
  EXPECT_EQ(ring.too_long(), 1u);
}

TEST(PerfRing, UnmappedRingIsEmpty) {
  PerfRing ring;
  EXPECT_THAT(DrainAll(ring), IsEmpty());
  EXPECT_EQ(ring.UnreadBytes(), 0u);
}

// A file in memory stands for the event: mapping it goes the same way.
class MappedRing : public testing::Test {
 protected:
  void SetUp() override {
    fd_ = memfd_create("ring", 0);
    ASSERT_EQ(ftruncate(fd_, static_cast<off_t>(PerfRing::SpanBytes(2))), 0);
    ASSERT_EQ(ring_.Map(fd_, 2), 0);
  }
  void TearDown() override { close(fd_); }

  int fd_ = -1;
  PerfRing ring_;
};

TEST_F(MappedRing, VacatedSpanCanBeReadAndTakesAnotherRing) {
  const std::atomic<uint64_t>* head = ring_.head();
  const_cast<std::atomic<uint64_t>*>(head)->store(64);
  const RingSpan span = ring_.Vacate();
  EXPECT_FALSE(ring_.mapped());
  EXPECT_EQ(span.bytes, PerfRing::SpanBytes(2));
  EXPECT_EQ(head->load(), 0u);
  PerfRing next;
  ASSERT_EQ(next.Map(fd_, 2, span), 0);
  EXPECT_EQ(next.head(), head);
  EXPECT_EQ(head->load(), 64u);
  next.Unmap();
}

TEST_F(MappedRing, SpanStaysReadableWhenTheRingCanNotBeMapped) {
  const std::atomic<uint64_t>* head = ring_.head();
  const RingSpan span = ring_.Vacate();
  PerfRing next;
  EXPECT_LT(next.Map(-1, 2, span), 0);
  EXPECT_FALSE(next.mapped());
  EXPECT_EQ(head->load(), 0u);
  munmap(span.start, span.bytes);
}

}  // namespace
}  // namespace memagent::os
