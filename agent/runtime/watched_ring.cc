#include "agent/runtime/watched_ring.h"

#include <algorithm>
#include <utility>

#include "agent/ledger/hook_clock.h"

namespace memagent::runtime {

os::RingSpan WatchedRing::TakeSpan(size_t bytes) {
  const auto same = [=](const os::RingSpan& span) { return span.bytes == bytes; };
  const auto found = std::find_if(spans_.begin(), spans_.end(), same);
  if (found == spans_.end()) return {};
  const os::RingSpan span = *found;
  spans_.erase(found);
  return span;
}

long WatchedRing::Map(int fd, size_t pages, bool grows) {
  watched_ = ledger::CanWatchRing(grows);
  const os::RingSpan span = watched_ ? TakeSpan(os::PerfRing::SpanBytes(pages)) : os::RingSpan();
  const long result = ring_.Map(fd, pages, span);
  if (result == 0) {
    ledger::AddRing(watched_ ? ring_.head() : nullptr);
  } else if (span.start != nullptr) {
    spans_.push_back(span);
  }
  return result;
}

void WatchedRing::Unmap() {
  if (!ring_.mapped()) return;
  ledger::RemoveRing(watched_ ? ring_.head() : nullptr);
  if (watched_) return spans_.push_back(ring_.Vacate());
  ring_.Unmap();
}

void WatchedRing::Swap(WatchedRing& other) {
  std::swap(ring_, other.ring_);
  std::swap(watched_, other.watched_);
}

}  // namespace memagent::runtime
