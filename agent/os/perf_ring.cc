#include "agent/os/perf_ring.h"

#include <errno.h>
#include <sys/mman.h>

#include <bit>

#include "agent/base/syscall.h"
#include "agent/os/machine.h"
#include "agent/os/perf_calls.h"

namespace memagent::os {
namespace {

// Replaces what is there at one stroke: no moment without a mapping. Read-only memory that is never
// written costs the shared page of zeros.
void MapZeros(const RingSpan& span) {
  base::Syscall(SYS_mmap, span.start, span.bytes, PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace

size_t PerfRing::SpanBytes(size_t data_pages) { return (data_pages + 1) * PageBytes(); }

long PerfRing::Map(int fd, size_t data_pages, const RingSpan& span) {
  if (!std::has_single_bit(data_pages)) return -EINVAL;
  const size_t page_bytes = PageBytes();
  const size_t bytes = SpanBytes(data_pages);
  const int place = span.start == nullptr ? 0 : MAP_FIXED;
  // Writable: with a read-only mapping the kernel overwrites what was not read.
  const long result = perf_calls->map(span.start, bytes, place, fd, 0);
  if (result < 0 && result > -4096) {
    if (place != 0) MapZeros(span);  // the kernel takes away what was there before it fails
    return result;
  }
  Unmap();
  control_ = reinterpret_cast<perf_event_mmap_page*>(result);
  data_ = reinterpret_cast<uint8_t*>(result) + page_bytes;
  data_bytes_ = data_pages * page_bytes;
  mapping_bytes_ = bytes;
  return 0;
}

void PerfRing::Unmap() {
  if (mapping_bytes_ != 0) base::Syscall(SYS_munmap, control_, mapping_bytes_);
  *this = PerfRing();
}

RingSpan PerfRing::Vacate() {
  const RingSpan span = {control_, mapping_bytes_};
  MapZeros(span);
  *this = PerfRing();
  return span;
}

size_t PerfRing::UnreadBytes() const {
  return mapped() ? static_cast<size_t>(LoadHead() - control_->data_tail) : 0;
}

size_t PerfRing::RecordSize(uint64_t tail, uint64_t head) {
  perf_event_header header;
  // Both are multiples of 8, so a header never wraps; a tail that is not is caught here as well.
  if (tail % sizeof(header) == 0 && head - tail >= sizeof(header)) {
    memcpy(&header, data_ + (tail & (data_bytes_ - 1)), sizeof(header));
    const size_t size = header.size;
    if (size >= sizeof(header) && size % 8 == 0 && size <= head - tail) return size;
  }
  state_ = RingState::kCorrupt;
  return 0;
}

std::span<const uint8_t> PerfRing::RecordBytes(uint64_t tail, size_t size, uint8_t* scratch) const {
  const size_t offset = tail & (data_bytes_ - 1);
  const size_t before_end = data_bytes_ - offset;
  if (size <= before_end) return {data_ + offset, size};
  memcpy(scratch, data_ + offset, before_end);
  memcpy(scratch + before_end, data_, size - before_end);
  return {scratch, size};
}

}  // namespace memagent::os
