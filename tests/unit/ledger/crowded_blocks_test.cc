#include "agent/ledger/crowded_blocks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace memagent::ledger {
namespace {

TEST(CrowdedBlocks, InsertedBlockIsFoundUntilErased) {
  uint64_t bits = 0;
  EXPECT_FALSE(FindCrowded(0x1000, bits));
  ASSERT_TRUE(InsertCrowded(0x1000, 42));
  EXPECT_TRUE(AnyCrowded());
  ASSERT_TRUE(FindCrowded(0x1000, bits));
  EXPECT_EQ(bits, 42u);
  bits = 0;
  ASSERT_TRUE(EraseCrowded(0x1000, bits));
  EXPECT_EQ(bits, 42u);
  EXPECT_FALSE(EraseCrowded(0x1000, bits));
  EXPECT_FALSE(FindCrowded(0x1000, bits));
}

TEST(CrowdedBlocks, SecondInsertReplacesTheBits) {
  uint64_t bits = 0;
  ASSERT_TRUE(InsertCrowded(0x2000, 1));
  ASSERT_TRUE(InsertCrowded(0x2000, 2));
  ASSERT_TRUE(EraseCrowded(0x2000, bits));
  EXPECT_EQ(bits, 2u);
  EXPECT_FALSE(FindCrowded(0x2000, bits));
}

TEST(CrowdedBlocks, HalfAMillionBlocksFitAndLeave) {
  constexpr uint64_t kBlocks = 500'000;
  constexpr uint64_t kBase = 0x500000000000;
  uint64_t refused = 0;
  for (uint64_t i = 0; i < kBlocks; ++i) refused += !InsertCrowded(kBase + i * 16, i + 1);
  EXPECT_EQ(refused, 0u);
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < kBlocks; ++i) {
    uint64_t bits = 0;
    wrong += !EraseCrowded(kBase + i * 16, bits) || bits != i + 1;
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(CrowdedBlocks, ThreadsKeepTheirBlocksApart) {
  constexpr uint64_t kThreads = 4;
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([thread, &wrong] {
      for (int round = 0; round < 20; ++round) {
        for (uint64_t i = 0; i < 500; ++i) {
          const uint64_t start = 0x600000000000 + (i * kThreads + thread) * 8;
          if (!InsertCrowded(start, start)) ++wrong;
        }
        for (uint64_t i = 0; i < 500; ++i) {
          const uint64_t start = 0x600000000000 + (i * kThreads + thread) * 8;
          uint64_t bits = 0;
          if (!FindCrowded(start, bits) || bits != start) ++wrong;
          if (!EraseCrowded(start, bits) || bits != start) ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
}

}  // namespace
}  // namespace memagent::ledger
