// A bounded queue from one host thread to the drain thread. Never blocks: a full ring refuses the
// record, and the caller counts the loss.
//
//     tail (drain thread)        head (host thread)
//          v                          v
//   |......[ r r r r r r r r r r r r ]......|      capacity is a power of two
#ifndef MEMAGENT_AGENT_LEDGER_SPSC_RING_H_
#define MEMAGENT_AGENT_LEDGER_SPSC_RING_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memagent::ledger {

template <typename Record, size_t kCapacity>
class SpscRing {
  static_assert((kCapacity & (kCapacity - 1)) == 0, "capacity must be a power of two");

 public:
  // `storage` holds kCapacity records; the ring does not own it.
  void Attach(Record* storage) { storage_ = storage; }
  bool attached() const { return storage_ != nullptr; }

  // Owner thread only. False when full or without storage.
  bool Push(const Record& record) {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    if (storage_ == nullptr || head - tail_.load(std::memory_order_acquire) >= kCapacity)
      return false;
    storage_[head & (kCapacity - 1)] = record;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  // Owner thread only: more than three quarters full, time to wake the drain thread. Looked at once
  // in kLookEvery pushes so that the shared tail is rarely read.
  bool ShouldWake() const {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    return head % kLookEvery == 0 &&
           head - tail_.load(std::memory_order_relaxed) > kCapacity / 4 * 3;
  }

  // Drain thread only. Calls take(record) for everything pushed so far.
  template <typename Take>
  void PopAll(Take take) {
    uint64_t tail = tail_.load(std::memory_order_relaxed);
    const uint64_t head = head_.load(std::memory_order_acquire);
    for (; tail != head; ++tail) take(storage_[tail & (kCapacity - 1)]);
    tail_.store(tail, std::memory_order_release);
  }

  // Both sides quiet (a record changes hands).
  void Clear() { tail_.store(head_.load()); }

 private:
  // Sixteen looks a lap leave a small ring at least an eighth of its room when it wakes the drain.
  static constexpr uint64_t kLookEvery = kCapacity >= 4096 ? 256
                                         : kCapacity >= 16 ? kCapacity / 16
                                                           : 1;

  Record* storage_ = nullptr;
  alignas(64) std::atomic<uint64_t> head_{0};
  alignas(64) std::atomic<uint64_t> tail_{0};
};

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_SPSC_RING_H_
