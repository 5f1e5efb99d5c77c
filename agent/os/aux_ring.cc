#include "agent/os/aux_ring.h"

#include <errno.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "agent/base/syscall.h"
#include "agent/os/machine.h"
#include "agent/os/perf_calls.h"

namespace memagent::os {

long AuxRing::Map(int fd, perf_event_mmap_page* control, size_t pages) {
  if (!std::has_single_bit(pages) || pages < kMinPages) return -EINVAL;
  const size_t bytes = pages * PageBytes();
  // The kernel takes place and size from here, and wants the place behind the data.
  control->aux_offset = control->data_offset + control->data_size;
  control->aux_size = bytes;
  // Writable: else the hardware overwrites what was not read.
  const long result = perf_calls->map(nullptr, bytes, 0, fd, control->aux_offset);
  if (result < 0 && result > -4096) return result;
  Unmap();
  control_ = control;
  aux_ = reinterpret_cast<uint8_t*>(result);
  aux_bytes_ = bytes;
  is_ours_ = true;
  return 0;
}

void AuxRing::Unmap() {
  if (is_ours_) base::Syscall(SYS_munmap, aux_, aux_bytes_);
  *this = AuxRing();
}

bool AuxRing::TakeStopped() { return std::exchange(is_stopped_, false); }

void AuxRing::CountFlags(uint64_t flags) {
  ++counts_.chunks;
  if ((flags & PERF_AUX_FLAG_TRUNCATED) != 0) {
    ++counts_.truncated;
    is_stopped_ = true;
  }
  if ((flags & PERF_AUX_FLAG_PARTIAL) != 0) ++counts_.partial;
  if ((flags & PERF_AUX_FLAG_COLLISION) != 0) ++counts_.collided;
}

AuxRing::Stretch AuxRing::Everything() {
  if (!mapped()) return {};
  const uint64_t head = std::atomic_ref<decltype(control_->aux_head)>(control_->aux_head)
                            .load(std::memory_order_acquire);
  uint64_t tail = control_->aux_tail;
  // Not in the mode that we map for; but nothing that is in the page may lead us out of the area.
  if (head - tail > aux_bytes_) {
    counts_.overwritten_bytes += head - tail - aux_bytes_;
    tail = head - aux_bytes_;
  }
  return {tail, tail, head};
}

AuxRing::Stretch AuxRing::Announced(const AuxChunk& chunk) {
  CountFlags(chunk.flags);
  const Stretch there = Everything();
  const uint64_t tail = there.start;
  const uint64_t end = chunk.offset + chunk.bytes;
  const auto is_before_tail = [&](uint64_t position) {
    return static_cast<int64_t>(position - tail) < 0;  // right also where counts go past 2^64
  };
  if (chunk.bytes > aux_bytes_ || (!is_before_tail(end) && end - tail > there.end - tail)) {
    ++counts_.malformed;
    return {tail, tail, tail};
  }
  if (is_before_tail(end)) return {tail, tail, tail};  // read already, with what nobody announced
  return {tail, is_before_tail(chunk.offset) ? tail : chunk.offset, end};
}

std::span<const uint8_t> AuxRing::Bytes(uint64_t start, uint64_t end,
                                        base::Vector<uint8_t>& scratch) const {
  const size_t at = start & (aux_bytes_ - 1);
  const auto size = static_cast<size_t>(end - start);
  const size_t before_end = std::min(aux_bytes_ - at, size);
  if (before_end == size) return {aux_ + at, size};
  scratch.resize(size);
  memcpy(scratch.data(), aux_ + at, before_end);
  memcpy(scratch.data() + before_end, aux_, size - before_end);
  return {scratch.data(), size};
}

void AuxRing::Release(uint64_t tail) {
  if (!mapped()) return;
  std::atomic_ref<decltype(control_->aux_tail)>(control_->aux_tail)
      .store(tail, std::memory_order_release);
}

}  // namespace memagent::os
