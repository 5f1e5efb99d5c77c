#include "agent/capture/page_trial.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "agent/base/arena.h"
#include "agent/base/syscall.h"
#include "agent/capture/skid_calibration.h"
#include "agent/os/file.h"
#include "agent/os/perf_event.h"
#include "agent/os/perf_ring.h"
#include "agent/os/tsc.h"

namespace memagent::capture {
namespace {

constexpr size_t kPages = 32;
constexpr size_t kPage = 4096;
constexpr size_t kBytes = kPages * kPage;
constexpr size_t kRingPages = 4;  // 32 records of less than 300 bytes
// What comes between, another thread or the hypervisor, only adds, and may add a thousand times as
// much: 253 us for a page were seen on busy CPUs, where it takes 1.
constexpr int kUnmapTrials = 4;

struct PageTimes {
  uint64_t touch[kPages];
  uint64_t unmap = 0;  // of all of them
};

// False without memory.
bool TimePages(PageTimes& times) {
  auto* pages = static_cast<volatile char*>(base::MapPages(kBytes, base::MemoryUse::kDrain));
  if (pages == nullptr) return false;
  auto* start = const_cast<char*>(pages);
  base::Syscall(SYS_madvise, start, kBytes, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < kPages; ++i) {
    const uint64_t before = os::ReadTsc();
    pages[i * kPage] = 1;
    times.touch[i] = os::ReadTsc() - before;
  }
  const uint64_t before = os::ReadTsc();
  base::UnmapPages(start, kBytes, base::MemoryUse::kDrain);
  times.unmap = os::ReadTsc() - before;
  return true;
}

// The same while faults are recorded. False when they can't be.
bool TimeRecordedPages(perf_event_attr attr, PageTimes& times) {
  attr.sample_period = 1;
  const os::UniqueFd fd(os::OpenPerfEvent(attr, {}));
  os::PerfRing ring;
  if (!fd.valid() || ring.Map(fd.get(), kRingPages) < 0) return false;
  os::EnablePerfEvent(fd.get());
  const bool timed = TimePages(times);
  os::DisablePerfEvent(fd.get());
  ring.Unmap();
  return timed;
}

}  // namespace

PageTrial TryPages(const perf_event_attr* faults, double nanos_per_tick) {
  PageTrial result;
  PageTimes plain;
  PageTimes recorded;
  if (!TimePages(plain)) return result;
  for (int trial = 1; trial < kUnmapTrials; ++trial) {
    PageTimes again;
    if (TimePages(again)) plain.unmap = std::min(plain.unmap, again.unmap);
  }
  result.unmap_nanos = static_cast<double>(plain.unmap) * nanos_per_tick / kPages;
  if (faults != nullptr && TimeRecordedPages(*faults, recorded)) {
    result.record_nanos =
        static_cast<double>(ExtraTicks(plain.touch, recorded.touch)) * nanos_per_tick;
  }
  return result;
}

}  // namespace memagent::capture
