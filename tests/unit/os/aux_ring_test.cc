#include "agent/os/aux_ring.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "agent/os/machine.h"
#include "agent/os/perf_ring.h"

namespace memagent::os {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// An area in ordinary memory, written as hardware and kernel would.
class FakeAux {
 public:
  explicit FakeAux(size_t bytes, uint64_t start = 0) : bytes_(bytes) {
    control_.aux_head = control_.aux_tail = start;
  }

  AuxRing Reader() { return AuxRing(&control_, bytes_.data(), bytes_.size()); }

  // Writes `count` bytes and announces them. The byte at each place is known: ByteAt().
  AuxChunk Write(uint64_t count, uint64_t flags = 0) {
    const AuxChunk chunk = {control_.aux_head, count, flags};
    for (uint64_t i = 0; i < count; ++i, ++control_.aux_head) {
      bytes_[control_.aux_head % bytes_.size()] = ByteAt(control_.aux_head);
    }
    return chunk;
  }
  static uint8_t ByteAt(uint64_t place) { return static_cast<uint8_t>(place * 7 + 1); }
  uint64_t tail() const { return control_.aux_tail; }
  uint64_t head() const { return control_.aux_head; }
  void SetHead(uint64_t head) { control_.aux_head = head; }

 private:
  perf_event_mmap_page control_ = {};
  std::vector<uint8_t> bytes_;
};

// Start and size of every piece that Read hands over, whose bytes are checked.
class Pieces {
 public:
  using List = std::vector<std::pair<uint64_t, size_t>>;

  List Of(AuxRing& ring, const AuxChunk& chunk) {
    list_.clear();
    ring.Read(chunk, scratch_,
              [this](std::span<const uint8_t> bytes, uint64_t offset) { Take(bytes, offset); });
    return list_;
  }
  List OfRest(AuxRing& ring) {
    list_.clear();
    ring.ReadRest(scratch_,
                  [this](std::span<const uint8_t> bytes, uint64_t offset) { Take(bytes, offset); });
    return list_;
  }

 private:
  void Take(std::span<const uint8_t> bytes, uint64_t offset) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      ASSERT_EQ(bytes[i], FakeAux::ByteAt(offset + i)) << "at " << offset + i;
    }
    list_.emplace_back(offset, bytes.size());
  }
  base::Vector<uint8_t> scratch_;
  List list_;
};

std::pair<uint64_t, size_t> Piece(uint64_t offset, size_t bytes) { return {offset, bytes}; }

TEST(AuxRing, ChunksComeWholeAtEveryPlaceAndRoomIsHandedBack) {
  constexpr size_t kBytes = 64;
  for (uint64_t start = 0; start < 2 * kBytes; ++start) {
    for (uint64_t count = 1; count <= kBytes; ++count) {
      FakeAux fake(kBytes, start);
      AuxRing ring = fake.Reader();
      Pieces pieces;
      EXPECT_THAT(pieces.Of(ring, fake.Write(count)), ElementsAre(Piece(start, count)));
      EXPECT_EQ(fake.tail(), start + count);
    }
  }
}

TEST(AuxRing, IndexPastItsRangeWraps) {
  for (uint64_t before = 0; before < 70; ++before) {
    FakeAux fake(64, UINT64_MAX - before);
    AuxRing ring = fake.Reader();
    Pieces pieces;
    for (int i = 0; i < 4; ++i) {
      const uint64_t start = fake.head();
      EXPECT_THAT(pieces.Of(ring, fake.Write(24)), ElementsAre(Piece(start, 24))) << before;
    }
    EXPECT_EQ(ring.counts().malformed, 0u);
    EXPECT_EQ(ring.counts().overwritten_bytes, 0u);
  }
}

TEST(AuxRing, ChunkThatWasNotAnnouncedComesBeforeTheNext) {
  FakeAux fake(64);
  AuxRing ring = fake.Reader();
  Pieces pieces;
  fake.Write(10);  // its record was lost
  EXPECT_THAT(pieces.Of(ring, fake.Write(20)), ElementsAre(Piece(0, 10), Piece(10, 20)));
  EXPECT_EQ(fake.tail(), 30u);
}

TEST(AuxRing, LaterChunkIsNotReadBeforeItsTime) {
  FakeAux fake(64);
  AuxRing ring = fake.Reader();
  Pieces pieces;
  const AuxChunk first = fake.Write(10);
  const AuxChunk second = fake.Write(20);
  EXPECT_THAT(pieces.Of(ring, first), ElementsAre(Piece(0, 10)));
  EXPECT_EQ(fake.tail(), 10u);
  EXPECT_THAT(pieces.Of(ring, second), ElementsAre(Piece(10, 20)));
}

TEST(AuxRing, RestIsReadOnceAnnouncedLaterOrNot) {
  FakeAux fake(64, 50);
  AuxRing ring = fake.Reader();
  Pieces pieces;
  const AuxChunk chunk = fake.Write(30);
  EXPECT_THAT(pieces.OfRest(ring), ElementsAre(Piece(50, 30)));
  EXPECT_THAT(pieces.OfRest(ring), IsEmpty());
  EXPECT_THAT(pieces.Of(ring, chunk), IsEmpty());
  EXPECT_EQ(fake.tail(), 80u);
  EXPECT_EQ(ring.counts().malformed, 0u);
  // One that is new in part only.
  fake.Write(8);
  EXPECT_THAT(pieces.Of(ring, {50, 38, 0}), ElementsAre(Piece(80, 8)));
}

TEST(AuxRing, FlagsAreCounted) {
  FakeAux fake(64);
  AuxRing ring = fake.Reader();
  Pieces pieces;
  pieces.Of(ring, fake.Write(8));
  pieces.Of(ring, fake.Write(8, PERF_AUX_FLAG_PARTIAL));
  pieces.Of(ring, fake.Write(8, PERF_AUX_FLAG_COLLISION | PERF_AUX_FLAG_PARTIAL));
  pieces.Of(ring, fake.Write(8, 0x100));  // format of the PMU
  EXPECT_EQ(ring.counts().chunks, 4u);
  EXPECT_EQ(ring.counts().partial, 2u);
  EXPECT_EQ(ring.counts().collided, 1u);
  EXPECT_EQ(ring.counts().truncated, 0u);
  EXPECT_FALSE(ring.TakeStopped());
}

TEST(AuxRing, TruncatedChunkIsReadAndTheEventIsToBeEnabledOnce) {
  FakeAux fake(64);
  AuxRing ring = fake.Reader();
  Pieces pieces;
  EXPECT_THAT(pieces.Of(ring, fake.Write(64, PERF_AUX_FLAG_TRUNCATED)), ElementsAre(Piece(0, 64)));
  EXPECT_EQ(ring.counts().truncated, 1u);
  EXPECT_EQ(fake.tail(), 64u) << "room before the event goes on";
  EXPECT_TRUE(ring.TakeStopped());
  EXPECT_FALSE(ring.TakeStopped());
  // A chunk of flags alone, as the kernel writes it when there was no room at all.
  EXPECT_THAT(pieces.Of(ring, fake.Write(0, PERF_AUX_FLAG_TRUNCATED)), IsEmpty());
  EXPECT_EQ(ring.counts().truncated, 2u);
  EXPECT_EQ(ring.counts().malformed, 0u);
  EXPECT_TRUE(ring.TakeStopped());
}

TEST(AuxRing, OverwrittenBytesAreCountedAndTheOthersRead) {
  FakeAux fake(64);
  AuxRing ring = fake.Reader();
  Pieces pieces;
  const AuxChunk gone = fake.Write(30);
  const AuxChunk half_gone = fake.Write(30);
  const AuxChunk whole = fake.Write(40);
  EXPECT_THAT(pieces.Of(ring, gone), IsEmpty());
  EXPECT_THAT(pieces.Of(ring, half_gone), ElementsAre(Piece(36, 24)));
  EXPECT_THAT(pieces.Of(ring, whole), ElementsAre(Piece(60, 40)));
  EXPECT_EQ(ring.counts().overwritten_bytes, 36u);
  EXPECT_EQ(ring.counts().malformed, 0u);
}

TEST(AuxRing, ChunkOfBytesThatCanNotBeThereIsRefused) {
  const AuxChunk chunks[] = {
      {100, 20, 0},          // ends beyond the head
      {116, 1, 0},           // starts beyond it
      {100, 65, 0},          // more than the area has
      {100, UINT64_MAX, 0},  // ... and ends where it started, but for one
      {UINT64_MAX, 130, 0}, {uint64_t{1} << 62, 8, 0},
  };
  for (const AuxChunk& chunk : chunks) {
    FakeAux fake(64, 100);
    AuxRing ring = fake.Reader();
    Pieces pieces;
    fake.Write(16);
    EXPECT_THAT(pieces.Of(ring, chunk), IsEmpty()) << chunk.offset;
    EXPECT_EQ(ring.counts().malformed, 1u) << chunk.offset;
    EXPECT_EQ(fake.tail(), 100u);
    EXPECT_THAT(pieces.OfRest(ring), ElementsAre(Piece(100, 16))) << "the area itself is well";
  }
}

TEST(AuxRing, NoHeadLeadsOutOfTheArea) {
  for (const uint64_t head : {uint64_t{99}, UINT64_MAX, uint64_t{1} << 63, uint64_t{1000}}) {
    FakeAux fake(64, 100);
    AuxRing ring = fake.Reader();
    base::Vector<uint8_t> scratch;
    fake.SetHead(head);
    size_t bytes = 0;
    ring.ReadRest(scratch,
                  [&](std::span<const uint8_t> piece, uint64_t) { bytes += piece.size(); });
    EXPECT_EQ(bytes, 64u);
    EXPECT_EQ(fake.tail(), head);
  }
}

TEST(AuxRing, UnmappedAreaIsEmpty) {
  AuxRing ring;
  Pieces pieces;
  EXPECT_FALSE(ring.mapped());
  EXPECT_THAT(pieces.Of(ring, {0, 8, 0}), IsEmpty());
  EXPECT_THAT(pieces.OfRest(ring), IsEmpty());
  ring.Unmap();
}

// A file in memory stands for the event: mapping it goes the same way.
class MappedAux : public testing::Test {
 protected:
  static constexpr size_t kDataPages = 1;
  static constexpr size_t kAuxPages = 2;

  void SetUp() override {
    page_ = PageBytes();
    fd_ = memfd_create("aux", 0);
    ASSERT_EQ(ftruncate(fd_, static_cast<off_t>((1 + kDataPages + kAuxPages) * page_)), 0);
    ASSERT_EQ(ring_.Map(fd_, kDataPages), 0);
    // The kernel tells where the data is.
    ring_.control()->data_offset = page_;
    ring_.control()->data_size = kDataPages * page_;
  }
  void TearDown() override {
    aux_.Unmap();
    ring_.Unmap();
    close(fd_);
  }

  // As the hardware: through another mapping of the same pages.
  void Write(uint64_t count) {
    perf_event_mmap_page* const control = ring_.control();
    std::vector<uint8_t> byte(1);
    const uint64_t head = control->aux_head;
    for (uint64_t at = head; at < head + count; ++at) {
      byte[0] = FakeAux::ByteAt(at);
      const size_t place = (1 + kDataPages) * page_ + at % (kAuxPages * page_);
      ASSERT_EQ(pwrite(fd_, byte.data(), 1, static_cast<off_t>(place)), 1);
    }
    std::atomic_ref(control->aux_head).store(head + count, std::memory_order_release);
  }

  size_t page_ = 0;
  int fd_ = -1;
  PerfRing ring_;
  AuxRing aux_;
};

TEST_F(MappedAux, AreaIsMappedBehindTheData) {
  ASSERT_EQ(aux_.Map(fd_, ring_.control(), kAuxPages), 0);
  EXPECT_EQ(ring_.control()->aux_offset, 2 * page_);
  EXPECT_EQ(ring_.control()->aux_size, kAuxPages * page_);
  EXPECT_EQ(aux_.aux_bytes(), kAuxPages * page_);
  Pieces pieces;
  Write(100);
  EXPECT_THAT(pieces.Of(aux_, {0, 100, 0}), ElementsAre(Piece(0, 100)));
  Write(kAuxPages * page_);  // wraps
  EXPECT_THAT(pieces.Of(aux_, {100, kAuxPages * page_, 0}),
              ElementsAre(Piece(100, kAuxPages * page_)));
  EXPECT_EQ(ring_.control()->aux_tail, 100 + kAuxPages * page_);
}

TEST_F(MappedAux, SizesThatTheKernelRefusesAreRefusedBefore) {
  EXPECT_EQ(aux_.Map(fd_, ring_.control(), 0), -EINVAL);
  EXPECT_EQ(aux_.Map(fd_, ring_.control(), 1), -EINVAL);
  EXPECT_EQ(aux_.Map(fd_, ring_.control(), 3), -EINVAL);
  EXPECT_FALSE(aux_.mapped());
}

TEST_F(MappedAux, AreaStaysAsItIsWhenItCanNotBeMappedAnew) {
  ASSERT_EQ(aux_.Map(fd_, ring_.control(), kAuxPages), 0);
  EXPECT_LT(aux_.Map(-1, ring_.control(), kAuxPages), 0);
  EXPECT_TRUE(aux_.mapped());
}

TEST_F(MappedAux, WriterAndReaderRunSideBySide) {
  ASSERT_EQ(aux_.Map(fd_, ring_.control(), kAuxPages), 0);
  constexpr uint64_t kTotal = 100'000;
  perf_event_mmap_page* const control = ring_.control();
  std::thread writer([&] {
    void* const mapping = mmap(nullptr, kAuxPages * page_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_,
                               static_cast<off_t>(2 * page_));
    auto* const bytes = static_cast<uint8_t*>(mapping);
    const std::atomic_ref tail(control->aux_tail);
    for (uint64_t head = 0; head < kTotal;) {
      const uint64_t room = kAuxPages * page_ - (head - tail.load(std::memory_order_acquire));
      for (uint64_t i = 0; i < std::min<uint64_t>(room, 97) && head < kTotal; ++i, ++head) {
        bytes[head % (kAuxPages * page_)] = FakeAux::ByteAt(head);
      }
      std::atomic_ref(control->aux_head).store(head, std::memory_order_release);
    }
    munmap(mapping, kAuxPages * page_);
  });
  Pieces pieces;
  uint64_t read = 0;
  while (read < kTotal) {
    for (const auto& [offset, size] : pieces.OfRest(aux_)) read += size;
  }
  writer.join();
  EXPECT_EQ(read, kTotal);
}

}  // namespace
}  // namespace memagent::os
