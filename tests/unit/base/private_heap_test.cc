#include "agent/base/private_heap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "agent/base/containers.h"

namespace memagent::base {
namespace {

TEST(PrivateHeap, BlocksNeverOverlap) {
  std::mt19937 random(1);
  std::map<char*, size_t> live;
  for (int i = 0; i < 20000; ++i) {
    if (live.size() > 500) {
      auto victim = live.begin();
      std::advance(victim, random() % live.size());
      HeapFree(victim->first, victim->second);
      live.erase(victim);
    }
    const size_t size = 1 + random() % (i % 50 == 0 ? 400000 : 3000);
    auto* block = static_cast<char*>(HeapAllocate(size));
    ASSERT_NE(block, nullptr);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(block) % 16, 0u);
    auto next = live.lower_bound(block);
    if (next != live.end()) {
      ASSERT_LE(block + size, next->first);
    }
    if (next != live.begin()) {
      ASSERT_LE(std::prev(next)->first + std::prev(next)->second, block);
    }
    memset(block, 0xab, size);
    live[block] = size;
  }
  for (auto [block, size] : live) HeapFree(block, size);
}

TEST(PrivateHeap, ContainersWorkOnIt) {
  HashMap<int, String> names;
  for (int i = 0; i < 1000; ++i) names[i] = String(static_cast<size_t>(i), 'x');
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(names[i].size(), static_cast<size_t>(i));
}

}  // namespace
}  // namespace memagent::base
