#include "agent/base/free_list.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace memagent::base {
namespace {

struct Object {
  Object* next_free = nullptr;
  std::atomic<int> owners{0};
};

TEST(FreeList, EmptyListGivesNothing) {
  FreeList<Object> list;
  EXPECT_EQ(list.Pop(), nullptr);
}

TEST(FreeList, LastPushedComesFirst) {
  FreeList<Object> list;
  Object objects[3];
  for (Object& object : objects) list.Push(&object);
  EXPECT_EQ(list.Pop(), &objects[2]);
  EXPECT_EQ(list.Pop(), &objects[1]);
  list.Push(&objects[2]);
  EXPECT_EQ(list.Pop(), &objects[2]);
  EXPECT_EQ(list.Pop(), &objects[0]);
  EXPECT_EQ(list.Pop(), nullptr);
}

TEST(FreeList, ChangeCounterMayWrap) {
  FreeList<Object> list;
  Object object;
  for (int i = 0; i < 200'000; ++i) {
    list.Push(&object);
    ASSERT_EQ(list.Pop(), &object);
  }
  EXPECT_EQ(list.Pop(), nullptr);
}

TEST(FreeList, NoObjectHasTwoOwnersAndNoneIsLost) {
  constexpr int kThreads = 4;
  FreeList<Object> list;
  std::vector<Object> objects(6);
  for (Object& object : objects) list.Push(&object);
  std::atomic<int> shared{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20'000; ++round) {
        Object* first = list.Pop();
        Object* second = list.Pop();
        for (Object* object : {first, second}) {
          if (object != nullptr && object->owners.fetch_add(1) != 0) ++shared;
        }
        for (Object* object : {first, second}) {
          if (object == nullptr) continue;
          object->owners.fetch_sub(1);
          list.Push(object);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared.load(), 0);
  std::set<Object*> left;
  while (Object* object = list.Pop()) left.insert(object);
  EXPECT_EQ(left.size(), objects.size());
}

}  // namespace
}  // namespace memagent::base
