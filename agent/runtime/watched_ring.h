// A thread's ring whose head the hooks look at (ledger/hook_clock.h), if there is room on their list.
//
// A hook may still be about to look at the ring of a thread that has ended, so the address range of
// a watched ring is never unmapped: it reads as zeros until another ring takes its place. There are
// at most ledger::kWatchedRings such ranges of each size, because only a watched ring takes or
// leaves one. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_WATCHED_RING_H_
#define MEMAGENT_AGENT_RUNTIME_WATCHED_RING_H_

#include <cstddef>

#include "agent/base/containers.h"
#include "agent/os/perf_ring.h"

namespace memagent::runtime {

using RingSpans = base::Vector<os::RingSpan>;

class WatchedRing {
 public:
  explicit WatchedRing(RingSpans& spans) : spans_(spans) {}
  ~WatchedRing() { Unmap(); }
  WatchedRing(const WatchedRing&) = delete;
  WatchedRing& operator=(const WatchedRing&) = delete;

  // As os::PerfRing::Map, before the event or those redirected to it are enabled. `grows` when the
  // ring will take the place of another.
  long Map(int fd, size_t pages, bool grows = false);
  void Unmap();
  void Swap(WatchedRing& other);

  RingSpans& spans() { return spans_; }
  os::PerfRing* operator->() { return &ring_; }
  const os::PerfRing* operator->() const { return &ring_; }

 private:
  os::RingSpan TakeSpan(size_t bytes);

  RingSpans& spans_;
  os::PerfRing ring_;
  bool watched_ = false;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_WATCHED_RING_H_
