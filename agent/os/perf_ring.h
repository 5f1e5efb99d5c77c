// Reads records out of the ring that the kernel writes for a perf event.
//
//   control page | data: 2^n pages
//                   tail --- unread records ---> head      both count bytes for ever, never masked
//
// The kernel stores head after the records, we load it before them (acquire); we store tail after
// we are done with them (release), which hands the room back. Records are whole multiples of 8
// bytes and may wrap at the end of the data. Calling thread: one at a time for each ring; nothing
// allocates.
#ifndef MEMAGENT_AGENT_OS_PERF_RING_H_
#define MEMAGENT_AGENT_OS_PERF_RING_H_

#include <linux/perf_event.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace memagent::os {

// No record of the events we open comes near this (a sample with 20 registers has 216 bytes).
inline constexpr size_t kMaxRecordBytes = 4096;

enum class RingState : uint8_t {
  kOk,
  // A header or an index that the kernel can't have written: someone else wrote into the ring. It
  // is never read again, and the caller must say so.
  kCorrupt,
};

// An address range that holds no ring and reads as zeros.
struct RingSpan {
  void* start = nullptr;
  size_t bytes = 0;
};

class PerfRing {
 public:
  PerfRing() = default;
  // A ring that somebody else laid out: `control` and `data_bytes` (a power of two) of data.
  PerfRing(perf_event_mmap_page* control, uint8_t* data, size_t data_bytes)
      : control_(control), data_(data), data_bytes_(data_bytes) {}

  // Maps the ring of `fd` with `data_pages` pages (a power of two). 0 or a negative errno; EPERM
  // means the user's locked-memory allowance is used up. A `span` of SpanBytes(data_pages) is taken
  // over, and left as it was on failure.
  long Map(int fd, size_t data_pages, const RingSpan& span = {});
  static size_t SpanBytes(size_t data_pages);
  // Forgets the ring, and unmaps it if Map made it.
  void Unmap();
  // Forgets a ring that Map made, but leaves its address range to be read.
  RingSpan Vacate();

  // Moves with every record; readable by any thread.
  const std::atomic<uint64_t>* head() const {
    return reinterpret_cast<const std::atomic<uint64_t>*>(&control_->data_head);
  }
  // For what lies behind the ring (os/aux_ring.h) and its clock (os/perf_time.h); null: not mapped.
  perf_event_mmap_page* control() const { return control_; }
  bool mapped() const { return control_ != nullptr; }
  size_t data_bytes() const { return data_bytes_; }
  RingState state() const { return state_; }
  uint64_t too_long() const { return too_long_; }

  // Bytes written and not yet read.
  size_t UnreadBytes() const;

  // Calls on_record(std::span<const uint8_t>) for each record that was complete on entry. The bytes
  // are valid during the call only. A record longer than kMaxRecordBytes is passed over and counted
  // in too_long().
  template <typename F>
  RingState Drain(F&& on_record) {
    if (!mapped() || state_ == RingState::kCorrupt) return state_;
    const uint64_t head = LoadHead();
    uint64_t tail = control_->data_tail;
    if (head - tail > data_bytes_) state_ = RingState::kCorrupt;
    uint8_t scratch[kMaxRecordBytes];
    while (state_ == RingState::kOk && tail != head) {
      const size_t size = RecordSize(tail, head);
      if (size == 0) break;
      if (size <= kMaxRecordBytes) {
        on_record(RecordBytes(tail, size, scratch));
      } else {
        ++too_long_;
      }
      tail += size;
    }
    std::atomic_ref<decltype(control_->data_tail)>(control_->data_tail)
        .store(tail, std::memory_order_release);
    return state_;
  }

 private:
  uint64_t LoadHead() const {
    return std::atomic_ref<decltype(control_->data_head)>(control_->data_head)
        .load(std::memory_order_acquire);
  }
  // Size of the record at `tail`; 0 marks the ring corrupt.
  size_t RecordSize(uint64_t tail, uint64_t head);
  // The record in place, or copied into `scratch` when it wraps.
  std::span<const uint8_t> RecordBytes(uint64_t tail, size_t size, uint8_t* scratch) const;

  perf_event_mmap_page* control_ = nullptr;
  uint8_t* data_ = nullptr;
  size_t data_bytes_ = 0;
  size_t mapping_bytes_ = 0;  // 0: not ours to unmap
  uint64_t too_long_ = 0;
  RingState state_ = RingState::kOk;
};

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_PERF_RING_H_
