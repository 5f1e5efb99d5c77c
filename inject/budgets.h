// How many threads the limits on descriptors and locked memory let the agent sample. Pure.
#ifndef MEMAGENT_INJECT_BUDGETS_H_
#define MEMAGENT_INJECT_BUDGETS_H_

#include <cstdint>

namespace memagent::inject {

inline constexpr uint64_t kUnlimited = UINT64_MAX;

struct BudgetInputs {
  uint64_t descriptor_limit = 0;     // RLIMIT_NOFILE; the drain thread has a table of its own
  uint64_t memlock_limit_bytes = 0;  // RLIMIT_MEMLOCK
  uint64_t mlock_kib = 0;            // kernel.perf_event_mlock_kb
  uint64_t online_cpus = 1;
  uint64_t page_bytes = 4096;
  bool may_lock_all = false;  // CAP_IPC_LOCK of the initial user namespace, or paranoid -1
  uint64_t descriptors_per_thread = 3;
  uint64_t ring_pages = 32;  // ring_pages=: data pages, one more page controls them
};

struct Budgets {
  uint64_t descriptor_limit = 0;
  uint64_t descriptors_per_thread = 0;
  uint64_t descriptor_threads = 0;     // how many fit
  uint64_t lockable_bytes = 0;         // the user's share and this process's own; kUnlimited
  uint64_t ring_bytes = 0;             // of one thread, at its largest
  uint64_t ring_threads = 0;           // how many fit with rings of this size; kUnlimited
  uint64_t smallest_ring_threads = 0;  // ... with rings of one data page
};

// What other processes of the user have mapped is not known and not subtracted.
Budgets ComputeBudgets(const BudgetInputs& inputs);

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_BUDGETS_H_
