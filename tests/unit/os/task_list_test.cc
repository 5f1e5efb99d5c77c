#include "agent/os/task_list.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace memagent::os {
namespace {

TEST(TaskList, EveryLivingThreadIsListedAndCounted) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  std::vector<std::atomic<Tid>> tids(200);  // more than one buffer of the kernel's
  for (std::atomic<Tid>& tid : tids) {
    threads.emplace_back([&] {
      tid = static_cast<Tid>(gettid());
      while (!stop) usleep(1000);
    });
  }
  for (std::atomic<Tid>& tid : tids) {
    while (tid == 0) usleep(1000);
  }
  const base::Vector<Tid> listed = ListTasks();
  EXPECT_EQ(CountTasks(), listed.size());
  EXPECT_EQ(std::count(listed.begin(), listed.end(), static_cast<Tid>(getpid())), 1);
  for (const std::atomic<Tid>& tid : tids) {
    EXPECT_EQ(std::count(listed.begin(), listed.end(), tid.load()), 1);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace memagent::os
