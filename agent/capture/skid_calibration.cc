#include "agent/capture/skid_calibration.h"

#include <errno.h>

#include <cstring>
#include <span>

#include "agent/os/clock.h"
#include "agent/os/file.h"
#include "agent/os/perf_event.h"
#include "agent/os/perf_ring.h"

namespace memagent::capture {
namespace {

#if defined(__x86_64__)

constexpr uint64_t kPeriodNanos = 50'000;
constexpr uint32_t kWantedTicks = 200;
constexpr Nanos kLimitNanos = 20'000'000;
constexpr size_t kRingPages = 2;              // 200 ticks of 16 bytes are 3.2 KB
constexpr uint64_t kRoundsPerBurst = 20'000;  // about 0.1 ms at 18 cycles for each locked add

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

void CountTick(std::span<const uint8_t> record, const LoopAddresses& at, SkidCalibration& result) {
  perf_event_header header;
  uint64_t ip;
  if (record.size() != sizeof(header) + sizeof(ip)) return;  // a LOST or THROTTLE record
  memcpy(&header, record.data(), sizeof(header));
  if (header.type != PERF_RECORD_SAMPLE) return;
  memcpy(&ip, record.data() + sizeof(header), sizeof(ip));
  if (ip < at.start || ip >= at.end) return;
  ++result.ticks_total;
  if (ip == at.access) ++result.ticks_on_access;
  if (ip == at.next) ++result.ticks_on_next;
}

void Measure(os::PerfRing& ring, SkidCalibration& result) {
  const Nanos deadline = os::MonotonicNanos() + kLimitNanos;
  while (result.ticks_total < kWantedTicks && os::MonotonicNanos() < deadline) {
    const LoopAddresses at = RunLoop(kRoundsPerBurst);
    ring.Drain([&](std::span<const uint8_t> record) { CountTick(record, at, result); });
  }
}

#endif

}  // namespace

#if defined(__x86_64__)

SkidCalibration CalibrateSkid() {
  SkidCalibration result;
  perf_event_attr attr = os::NewPerfAttr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  attr.sample_period = kPeriodNanos;
  attr.sample_type = PERF_SAMPLE_IP;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  const os::UniqueFd fd(os::OpenPerfEvent(attr, 0));
  os::PerfRing ring;
  const long mapped = fd.valid() ? ring.Map(fd.get(), kRingPages) : fd.get();
  if (mapped < 0) {
    result.error = static_cast<int>(-mapped);
    return result;
  }
  os::EnablePerfEvent(fd.get());
  Measure(ring, result);
  os::DisablePerfEvent(fd.get());
  ring.Unmap();
  return result;
}

#else

// On AArch64 the address of an access is not taken from the interrupt's registers (no decoder of
// its code), so there is no skid to correct.
SkidCalibration CalibrateSkid() {
  SkidCalibration result;
  result.error = EOPNOTSUPP;
  return result;
}

#endif

}  // namespace memagent::capture
