#include "agent/ledger/spsc_ring.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "agent/ledger/thread_record.h"

namespace memagent::ledger {
namespace {

using Ring = SpscRing<uint64_t, 8>;

std::vector<uint64_t> Drain(Ring& ring) {
  std::vector<uint64_t> taken;
  ring.PopAll([&](uint64_t value) { taken.push_back(value); });
  return taken;
}

TEST(SpscRing, WithoutStorageEverythingIsRefused) {
  Ring ring;
  EXPECT_FALSE(ring.attached());
  EXPECT_FALSE(ring.Push(1));
  EXPECT_TRUE(Drain(ring).empty());
}

TEST(SpscRing, FullRingRefusesAndKeepsWhatItHas) {
  uint64_t storage[8];
  Ring ring;
  ring.Attach(storage);
  for (uint64_t i = 0; i < 8; ++i) EXPECT_TRUE(ring.Push(i));
  EXPECT_FALSE(ring.Push(8));
  EXPECT_EQ(Drain(ring), (std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(ring.Push(9));
  EXPECT_EQ(Drain(ring), std::vector<uint64_t>{9});
}

TEST(SpscRing, OrderIsKeptAcrossManyWraps) {
  uint64_t storage[8];
  Ring ring;
  ring.Attach(storage);
  uint64_t next_in = 0;
  uint64_t next_out = 0;
  for (int round = 0; round < 1000; ++round) {
    for (int i = 0; i < round % 9; ++i) ASSERT_TRUE(ring.Push(next_in++));
    ring.PopAll([&](uint64_t value) { ASSERT_EQ(value, next_out++); });
  }
  EXPECT_EQ(next_out, next_in);
}

TEST(SpscRing, ClearForgetsWhatWasPushed) {
  uint64_t storage[8];
  Ring ring;
  ring.Attach(storage);
  ring.Push(1);
  ring.Clear();
  EXPECT_TRUE(Drain(ring).empty());
}

// Wherever the drain left the tail, a ring that nobody empties asks for the drain with room left.
TEST(SpscRing, RegionRingWakesTheDrainBeforeItIsFull) {
  std::vector<RegionEvent> storage(kRegionCapacity);
  for (size_t drained_at = 0; drained_at < 600; drained_at += 7) {
    RegionRing ring;
    ring.Attach(storage.data());
    for (size_t i = 0; i < drained_at; ++i) {
      ring.Push({});
      ring.PopAll([](const RegionEvent&) {});
    }
    size_t pushed = 0;
    while (!ring.ShouldWake() && ring.Push({})) ++pushed;
    EXPECT_GT(pushed, kRegionCapacity / 4 * 3) << drained_at;
    EXPECT_LE(pushed, kRegionCapacity / 8 * 7) << drained_at;
  }
}

TEST(SpscRing, TwoThreadsPassEveryRecordOnceInOrder) {
  constexpr uint64_t kRecords = 200'000;
  uint64_t storage[8];
  Ring ring;
  ring.Attach(storage);
  std::thread owner([&ring] {
    for (uint64_t i = 0; i < kRecords;) {
      if (ring.Push(i)) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  uint64_t expected = 0;
  bool in_order = true;
  while (expected < kRecords) {
    ring.PopAll([&](uint64_t value) { in_order &= value == expected++; });
    std::this_thread::yield();
  }
  owner.join();
  EXPECT_TRUE(in_order);
}

}  // namespace
}  // namespace memagent::ledger
