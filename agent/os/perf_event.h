// perf_event_open and what one does with the descriptor it gives: raw calls, nothing decided here.
//
// Which attr to try is decided in capture/event_selection; what an errno means, in
// capture/engine_errors. Calling thread: any; nothing allocates.
#ifndef MEMAGENT_AGENT_OS_PERF_EVENT_H_
#define MEMAGENT_AGENT_OS_PERF_EVENT_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>
#include <span>

#include "agent/os/perf_calls.h"

namespace memagent::os {

// A zeroed attr of the newest size this build knows, disabled until EnablePerfEvent.
perf_event_attr NewPerfAttr(uint32_t type, uint64_t config);

// A test may play this call alone.
using PerfEventOpenCall = decltype(PerfCalls::open);

// Opens an event, close-on-exec. Returns the descriptor or a negative errno. Where the kernel is
// older than `attr`, what it can't know is dropped and `attr` then says what was opened:
//  * E2BIG with a smaller attr.size written back: fields beyond it are cut off, when they are zero;
//  * EINVAL while PERF_FORMAT_LOST (Linux 6.0) is asked for: tried again without it.
long OpenPerfEvent(perf_event_attr& attr, const PerfTarget& target,
                   PerfEventOpenCall call = perf_calls->open);

// All return 0 or a negative errno.
long EnablePerfEvent(int fd);
long DisablePerfEvent(int fd);
long SetPerfPeriod(int fd, uint64_t period);   // EINVAL for 0 and for counting events
long RedirectPerfOutput(int fd, int ring_fd);  // records of `fd` go to the ring of `ring_fd`

// The id that PERF_SAMPLE_IDENTIFIER carries and LOST records name.
std::optional<uint64_t> PerfEventId(int fd);
// 0 or a negative errno.
long ReadPerfEventId(int fd, uint64_t& id);

struct PerfCounts {
  uint64_t value = 0;
  uint64_t enabled_nanos = 0;
  uint64_t running_nanos = 0;
  uint64_t id = 0;
  uint64_t lost = 0;      // records that found no room, ever
  bool has_lost = false;  // false: the kernel (before 6.0) does not count them
};

// The read_format that NewPerfAttr sets and ReadPerfCounts expects, LOST perhaps taken out again.
inline constexpr uint64_t kPerfReadFormat = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                            PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID |
                                            PERF_FORMAT_LOST;

// Pure: the words that read() gives for an ungrouped event of `read_format`.
std::optional<PerfCounts> ParsePerfCounts(std::span<const uint64_t> words, uint64_t read_format);

// read() of an event opened with `read_format` (take it from the attr after OpenPerfEvent).
std::optional<PerfCounts> ReadPerfCounts(int fd, uint64_t read_format);

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_PERF_EVENT_H_
