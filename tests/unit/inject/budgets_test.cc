#include "inject/budgets.h"

#include <gtest/gtest.h>

namespace memagent::inject {
namespace {

// Measured: nobody, 2 CPUs, 8 MiB, rings of 1+16 pages: mapping 136 gave EPERM (facts:
// perf_abi 1.6).
TEST(Budgets, RingsFitAsTheKernelCounts) {
  BudgetInputs inputs = {.descriptor_limit = 1024,
                         .memlock_limit_bytes = 8 << 20,
                         .mlock_kib = 516,
                         .online_cpus = 2,
                         .ring_pages = 16};
  EXPECT_EQ(ComputeBudgets(inputs).ring_threads, 135u);
  EXPECT_EQ(ComputeBudgets(inputs).ring_bytes, 17u * 4096);
  EXPECT_EQ(ComputeBudgets(inputs).smallest_ring_threads, (2 * 129u + 2048) / 2);
  inputs.page_bytes = 65536;
  EXPECT_EQ(ComputeBudgets(inputs).ring_threads, (2 * 8u + 128) / 17);
}

TEST(Budgets, TheRightToLockLiftsTheLimit) {
  const BudgetInputs inputs = {.memlock_limit_bytes = 0, .mlock_kib = 516, .may_lock_all = true};
  EXPECT_EQ(ComputeBudgets(inputs).lockable_bytes, kUnlimited);
  EXPECT_EQ(ComputeBudgets(inputs).ring_threads, kUnlimited);
  const BudgetInputs unlimited = {.memlock_limit_bytes = kUnlimited, .mlock_kib = 516};
  EXPECT_EQ(ComputeBudgets(unlimited).ring_threads, kUnlimited);
}

TEST(Budgets, DescriptorsAreSharedByThreads) {
  EXPECT_EQ(ComputeBudgets({.descriptor_limit = 1024}).descriptor_threads, 336u);
  EXPECT_EQ(ComputeBudgets({.descriptor_limit = 5}).descriptor_threads, 0u);
  EXPECT_EQ(ComputeBudgets({.descriptor_limit = kUnlimited}).descriptor_threads, kUnlimited);
  EXPECT_EQ(
      ComputeBudgets({.descriptor_limit = 116, .descriptors_per_thread = 5}).descriptor_threads,
      20u);
}

}  // namespace
}  // namespace memagent::inject
