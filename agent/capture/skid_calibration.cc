#include "agent/capture/skid_calibration.h"

#include <errno.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "agent/os/clock.h"
#include "agent/os/file.h"
#include "agent/os/perf_event.h"
#include "agent/os/perf_ring.h"
#include "agent/os/tsc.h"

namespace memagent::capture {
namespace {

#if defined(__x86_64__)

constexpr uint64_t kPeriodNanos = 50'000;
constexpr uint32_t kWantedTicks = 200;
constexpr Nanos kLimitNanos = 20'000'000;
constexpr size_t kRingPages = 2;             // emptied after every burst
constexpr uint64_t kRoundsPerBurst = 2'000;  // about 15 us at 18 cycles for each locked add
constexpr size_t kMostBursts = 256;          // of which the times are kept

struct LoopAddresses {
  uint64_t start;
  uint64_t access;
  uint64_t next;
  uint64_t end;
};

// One burst of the loop; says where its instructions are. Never inlined: one copy, one set of
// labels.
[[gnu::noinline]] LoopAddresses RunLoop(uint64_t rounds) {
  alignas(64) uint64_t line[8] = {};
  LoopAddresses at;
  asm volatile(
      "lea 1f(%%rip), %0\n\t"
      "lea 2f(%%rip), %1\n\t"
      "lea 3f(%%rip), %2\n\t"
      "lea 4f(%%rip), %3\n"
      "1:\n\t"
      "nop\n\tnop\n\tnop\n\tnop\n"
      "2:\n\t"
      "lock addq $1, (%5)\n"
      "3:\n\t"
      "nop\n\tnop\n\tnop\n\tnop\n\t"
      "dec %4\n\t"
      "jnz 1b\n"
      "4:\n"
      : "=&r"(at.start), "=&r"(at.access), "=&r"(at.next), "=&r"(at.end), "+r"(rounds)
      : "r"(line)
      : "cc", "memory");
  return at;
}

void CountTick(std::span<const uint8_t> record, size_t ip_at, const LoopAddresses& at,
               SkidCalibration& result) {
  perf_event_header header;
  uint64_t ip;
  if (record.size() < ip_at + sizeof(ip)) return;  // a LOST or THROTTLE record
  memcpy(&header, record.data(), sizeof(header));
  if (header.type != PERF_RECORD_SAMPLE) return;
  memcpy(&ip, record.data() + ip_at, sizeof(ip));
  if (ip < at.start || ip >= at.end) return;
  ++result.ticks_total;
  if (ip == at.access) ++result.ticks_on_access;
  if (ip == at.next) ++result.ticks_on_next;
}

// Times of bursts, in ticks of the time-stamp counter.
struct BurstTimes {
  uint64_t times[kMostBursts];
  size_t count = 0;
  void Add(uint64_t time) {
    if (count < kMostBursts) times[count++] = time;
  }
  std::span<uint64_t> view() { return {times, count}; }
};

void Measure(os::PerfRing& ring, size_t ip_at, SkidCalibration& result) {
  const os::ClockPair start = os::TakeClockPair();
  BurstTimes without;
  BurstTimes with_one;
  while (result.ticks_total < kWantedTicks &&
         os::MonotonicNanos() < start.nanos + kLimitNanos) {
    const uint32_t ticks_before = result.ticks_total;
    const uint64_t before = os::ReadTsc();
    const LoopAddresses at = RunLoop(kRoundsPerBurst);
    const uint64_t time = os::ReadTsc() - before;
    ring.Drain([&](std::span<const uint8_t> record) { CountTick(record, ip_at, at, result); });
    if (result.ticks_total == ticks_before) without.Add(time);
    if (result.ticks_total == ticks_before + 1) with_one.Add(time);
  }
  const os::ClockPair end = os::TakeClockPair();
  const double nanos_per_tick = static_cast<double>(end.nanos - start.nanos) /
                                static_cast<double>(end.ticks - start.ticks);
  result.tick_nanos =
      static_cast<double>(ExtraTicks(without.view(), with_one.view())) * nanos_per_tick;
}

// The address is the first field, behind an identifier when samples have one.
size_t IpOffset(uint64_t sample_type) {
  return sizeof(perf_event_header) +
         ((sample_type & PERF_SAMPLE_IDENTIFIER) != 0 ? sizeof(uint64_t) : 0);
}

#endif

constexpr size_t kFewestBursts = 16;

uint64_t Median(std::span<uint64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

uint64_t ExtraTicks(std::span<uint64_t> without, std::span<uint64_t> with_one) {
  if (without.size() < kFewestBursts || with_one.size() < kFewestBursts) return 0;
  const uint64_t base = Median(without);
  const uint64_t longer = Median(with_one);
  return longer > base ? longer - base : 0;
}

#if defined(__x86_64__)

SkidCalibration CalibrateSkid(const perf_event_attr* access) {
  SkidCalibration result;
  perf_event_attr attr = os::NewPerfAttr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  attr.sample_period = kPeriodNanos;
  attr.sample_type = access != nullptr ? access->sample_type : uint64_t{PERF_SAMPLE_IP};
  attr.sample_regs_user = access != nullptr ? access->sample_regs_user : 0;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  const os::UniqueFd fd(os::OpenPerfEvent(attr, {}));
  os::PerfRing ring;
  const long mapped = fd.valid() ? ring.Map(fd.get(), kRingPages) : fd.get();
  if (mapped < 0) {
    result.error = static_cast<int>(-mapped);
    return result;
  }
  os::EnablePerfEvent(fd.get());
  Measure(ring, IpOffset(attr.sample_type), result);
  os::DisablePerfEvent(fd.get());
  ring.Unmap();
  return result;
}

#else

// On AArch64 the address of an access is not taken from the interrupt's registers (no decoder of
// its code), so there is no skid to correct.
SkidCalibration CalibrateSkid(const perf_event_attr*) {
  SkidCalibration result;
  result.error = EOPNOTSUPP;
  return result;
}

#endif

}  // namespace memagent::capture
