#include "agent/base/held_memory.h"

#include <gtest/gtest.h>

#include "agent/base/arena.h"

namespace memagent::base {
namespace {

TEST(HeldMemory, CountsPagesThatAreThere) {
  const HeldBytes before = ReadHeld(MemoryUse::kSites);
  constexpr size_t kBytes = 64 * 4096;
  auto* pages = static_cast<char*>(MapPages(kBytes, MemoryUse::kSites));
  ASSERT_NE(pages, nullptr);
  EXPECT_EQ(ReadHeld(MemoryUse::kSites).mapped, before.mapped + kBytes);
  EXPECT_EQ(ReadHeld(MemoryUse::kSites).resident, before.resident);
  pages[0] = pages[5 * 4096] = pages[63 * 4096] = 1;
  EXPECT_EQ(ReadHeld(MemoryUse::kSites).resident, before.resident + 3 * 4096);
  UnmapPages(pages, kBytes, MemoryUse::kSites);
  EXPECT_EQ(ReadHeld(MemoryUse::kSites).mapped, before.mapped);
  EXPECT_EQ(ReadHeld(MemoryUse::kSites).resident, before.resident);
}

TEST(HeldMemory, WhatFindsNoRoomInTheListCountsAsThere) {
  constexpr size_t kMappings = 5000;
  static char fake[kMappings * 16];
  const HeldBytes before = ReadHeld(MemoryUse::kThreads);
  for (size_t i = 0; i < kMappings; ++i) NoteMapped(&fake[i * 16], 16, MemoryUse::kThreads);
  const HeldBytes full = ReadHeld(MemoryUse::kThreads);
  EXPECT_EQ(full.mapped, before.mapped + kMappings * 16);
  EXPECT_GT(full.resident, before.resident);
  for (size_t i = 0; i < kMappings; ++i) NoteUnmapped(&fake[i * 16], 16, MemoryUse::kThreads);
  EXPECT_EQ(ReadHeld(MemoryUse::kThreads).mapped, before.mapped);
  EXPECT_EQ(ReadHeld(MemoryUse::kThreads).resident, before.resident);
}

TEST(HeldMemory, PlacesAreUsedAgain) {
  for (int i = 0; i < 10'000; ++i) {
    void* pages = MapPages(4096, MemoryUse::kIndex);
    UnmapPages(pages, 4096, MemoryUse::kIndex);
  }
  auto* page = static_cast<char*>(MapPages(8192, MemoryUse::kIndex));
  page[0] = 1;
  EXPECT_EQ(ReadHeld(MemoryUse::kIndex).resident, 4096u);
  UnmapPages(page, 8192, MemoryUse::kIndex);
}

}  // namespace
}  // namespace memagent::base
