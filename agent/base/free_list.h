// A lock-free stack of free objects (Treiber), for objects that are recycled and never unmapped.
// T has a member `T* next_free`. The upper 16 bits of the head count changes, against ABA: user
// addresses have 47 bits.
#ifndef MEMAGENT_AGENT_BASE_FREE_LIST_H_
#define MEMAGENT_AGENT_BASE_FREE_LIST_H_

#include <atomic>
#include <cstdint>

namespace memagent::base {

template <typename T>
class FreeList {
 public:
  // nullptr when empty. Calling thread: any.
  T* Pop() {
    uint64_t head = head_.load(std::memory_order_acquire);
    while (true) {
      T* object = ObjectOf(head);
      if (object == nullptr) return nullptr;
      // Another thread may have popped and pushed the object again meanwhile: then what is read
      // here is of no use, and the exchange fails.
      T* next = std::atomic_ref(object->next_free).load(std::memory_order_relaxed);
      if (head_.compare_exchange_weak(head, Pack(next, head), std::memory_order_acq_rel)) {
        return object;
      }
    }
  }

  // Calling thread: any.
  void Push(T* object) {
    uint64_t head = head_.load(std::memory_order_relaxed);
    do {
      std::atomic_ref(object->next_free).store(ObjectOf(head), std::memory_order_relaxed);
    } while (!head_.compare_exchange_weak(head, Pack(object, head), std::memory_order_acq_rel));
  }

 private:
  static T* ObjectOf(uint64_t head) {
    return reinterpret_cast<T*>(head & ((uint64_t{1} << 48) - 1));
  }
  static uint64_t Pack(T* object, uint64_t old_head) {
    return reinterpret_cast<uint64_t>(object) | ((old_head >> 48) + 1) << 48;
  }

  std::atomic<uint64_t> head_{0};
};

}  // namespace memagent::base

#endif  // MEMAGENT_AGENT_BASE_FREE_LIST_H_
