#include "agent/os/perf_ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace memagent::os
