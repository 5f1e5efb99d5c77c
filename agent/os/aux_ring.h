// Reads the AUX area of a perf event: bytes that hardware writes by itself, Arm SPE's records.
//
//   control page | data: PERF_RECORD_AUX announce chunks | AUX area: 2^n pages
//                                     aux_tail --- not read yet ---> aux_head
//
// Head and tail count bytes for ever, as those of the data ring (os/perf_ring.h) do, and are handed
// over in the same way: the kernel stores head after the bytes, we load it before them; we store
// tail when we are done with them. Calling thread: one at a time for each area.
//
// Source: uapi perf_event.h (perf_event_mmap_page, PERF_RECORD_AUX, PERF_AUX_FLAG_*); facts,
// perf_abi 1.3 and 4.3.
#ifndef MEMAGENT_AGENT_OS_AUX_RING_H_
#define MEMAGENT_AGENT_OS_AUX_RING_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "agent/base/containers.h"

namespace memagent::os {

// What a PERF_RECORD_AUX says: bytes [offset, offset + bytes) of the stream are there to be read.
struct AuxChunk {
  uint64_t offset = 0;
  uint64_t bytes = 0;  // may be 0, to tell of flags only
  uint64_t flags = 0;  // PERF_AUX_FLAG_*
};

// Numbers of chunks but for overwritten_bytes.
struct AuxCounts {
  uint64_t chunks = 0;
  uint64_t truncated = 0;  // the area was full; the kernel stopped the event
  uint64_t partial = 0;    // the hardware lost records, or cut the last one
  uint64_t collided =
      0;  // an instruction was picked while the last one was in flight: not recorded
  uint64_t malformed = 0;          // of bytes that can't be there
  uint64_t overwritten_bytes = 0;  // the hardware went round before we had read them
};

class AuxRing {
 public:
  // What Arm SPE's driver asks for at least (perf_abi 4.3).
  static constexpr size_t kMinPages = 2;

  AuxRing() = default;
  // An area that somebody else laid out: `aux_bytes` (a power of two) of it.
  AuxRing(perf_event_mmap_page* control, uint8_t* aux, size_t aux_bytes)
      : control_(control), aux_(aux), aux_bytes_(aux_bytes) {}

  // Maps an area of `pages` pages (a power of two) behind the ring of `fd`, which is mapped already
  // and whose control page is `control`. 0 or a negative errno; EPERM means the user's
  // locked-memory allowance is used up.
  long Map(int fd, perf_event_mmap_page* control, size_t pages);
  // Forgets the area, and unmaps it if Map made it.
  void Unmap();

  bool mapped() const { return control_ != nullptr; }
  size_t aux_bytes() const { return aux_bytes_; }
  const AuxCounts& counts() const { return counts_; }

  // Once after each truncated chunk: the event is stopped and has to be enabled again. Ask after
  // the chunk was read, so that there is room.
  bool TakeStopped();

  // Reads up to the end of `chunk` and hands the room back. Calls on_bytes(span, offset in the
  // stream) for the chunk, and before it for bytes that nobody announced: padding of the driver, or
  // chunks whose record was lost. The span is valid during the call; what wraps is copied into
  // `scratch`.
  template <typename F>
  void Read(const AuxChunk& chunk, base::Vector<uint8_t>& scratch, F&& on_bytes) {
    const Stretch stretch = Announced(chunk);
    Hand(stretch.gap_start, stretch.start, scratch, on_bytes);
    Hand(stretch.start, stretch.end, scratch, on_bytes);
    Release(stretch.end);
  }
  // Reads everything that is there, announced or not: for the end of an event.
  template <typename F>
  void ReadRest(base::Vector<uint8_t>& scratch, F&& on_bytes) {
    const Stretch stretch = Everything();
    Hand(stretch.start, stretch.end, scratch, on_bytes);
    Release(stretch.end);
  }

 private:
  // [gap_start, start) was not announced, [start, end) was.
  struct Stretch {
    uint64_t gap_start = 0;
    uint64_t start = 0;
    uint64_t end = 0;
  };

  Stretch Everything();
  // Empty, at the tail, when there is nothing new.
  Stretch Announced(const AuxChunk& chunk);
  std::span<const uint8_t> Bytes(uint64_t start, uint64_t end,
                                 base::Vector<uint8_t>& scratch) const;
  void Release(uint64_t tail);
  void CountFlags(uint64_t flags);

  template <typename F>
  void Hand(uint64_t start, uint64_t end, base::Vector<uint8_t>& scratch, F& on_bytes) const {
    if (start != end) on_bytes(Bytes(start, end, scratch), start);
  }

  perf_event_mmap_page* control_ = nullptr;
  uint8_t* aux_ = nullptr;
  size_t aux_bytes_ = 0;
  bool is_ours_ = false;  // to unmap
  bool is_stopped_ = false;
  AuxCounts counts_;
};

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_AUX_RING_H_
