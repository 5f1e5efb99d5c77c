#include "inject/budgets.h"

#include <algorithm>

namespace memagent::inject {
namespace {

// Files of the drain thread itself: profile, pagemap, reserve, maps.
constexpr uint64_t kOwnDescriptors = 16;

// kernel/events/core.c, perf_mmap: each user has mlock_kb for each online CPU, and what goes beyond
// is charged to the process's RLIMIT_MEMLOCK (facts: perf_abi 1.6).
uint64_t LockableBytes(const BudgetInputs& inputs) {
  if (inputs.may_lock_all || inputs.memlock_limit_bytes == kUnlimited) return kUnlimited;
  const uint64_t pages_each = inputs.mlock_kib * 1024 / inputs.page_bytes;
  const uint64_t own_pages = inputs.memlock_limit_bytes / inputs.page_bytes;
  return (pages_each * inputs.online_cpus + own_pages) * inputs.page_bytes;
}

uint64_t ThreadsOf(uint64_t lockable, uint64_t ring_bytes) {
  return lockable == kUnlimited ? kUnlimited : lockable / ring_bytes;
}

}  // namespace

Budgets ComputeBudgets(const BudgetInputs& inputs) {
  Budgets budgets;
  budgets.descriptor_limit = inputs.descriptor_limit;
  budgets.descriptors_per_thread = inputs.descriptors_per_thread;
  budgets.descriptor_threads =
      inputs.descriptor_limit == kUnlimited
          ? kUnlimited
          : (inputs.descriptor_limit - std::min(inputs.descriptor_limit, kOwnDescriptors)) /
                std::max<uint64_t>(inputs.descriptors_per_thread, 1);
  budgets.lockable_bytes = LockableBytes(inputs);
  budgets.ring_bytes = (inputs.ring_pages + 1) * inputs.page_bytes;
  budgets.ring_threads = ThreadsOf(budgets.lockable_bytes, budgets.ring_bytes);
  budgets.smallest_ring_threads = ThreadsOf(budgets.lockable_bytes, 2 * inputs.page_bytes);
  return budgets;
}

}  // namespace memagent::inject
