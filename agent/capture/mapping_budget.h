// How many mappings placements may still add. Each policy inside a mapping may split it in three;
// parts that have pages don't all grow together again when the policies are gone, and advice about
// huge pages stays. A process may have 65,530 mappings (vm.max_map_count), after which its own mmap
// fails: so the drain thread counts what there is, and half of what may be is the program's alone.
//
//   Take ─► so many since the last count ─► WantsCount ─► Tell(count) ─► Take goes on, or is
//   refused
//
// Calling thread: Take any, the others the drain thread.
#ifndef MEMAGENT_AGENT_CAPTURE_MAPPING_BUDGET_H_
#define MEMAGENT_AGENT_CAPTURE_MAPPING_BUDGET_H_

#include <atomic>
#include <cstdint>

namespace memagent::capture {

class MappingBudget {
 public:
  // A quarter of what may be: as many as PlacedBlocks::kMaxBlocks add, in one go if need be.
  static constexpr uint32_t kMostUncounted = 16384;

  // False: no more mappings may be added now.
  bool Take(uint32_t mappings) {
    if (crowded_.load(std::memory_order_relaxed)) return false;
    const uint32_t before = uncounted_.fetch_add(mappings, std::memory_order_relaxed);
    if (before < kMostUncounted) return true;
    uncounted_.fetch_sub(mappings, std::memory_order_relaxed);
    return false;
  }

  bool WantsCount() const {
    return crowded_.load(std::memory_order_relaxed) ||
           uncounted_.load(std::memory_order_relaxed) >= kMostUncounted / 8;
  }

  void Tell(uint64_t mappings, uint64_t most) {
    crowded_.store(mappings > most / 2, std::memory_order_relaxed);
    uncounted_.store(0, std::memory_order_relaxed);
  }

 private:
  std::atomic<uint32_t> uncounted_{0};
  std::atomic<bool> crowded_{false};
};

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_MAPPING_BUDGET_H_
