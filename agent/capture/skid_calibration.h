// Measures where this machine's clock interrupt lands after a memory access.
//
// The software engine blames the instruction before the sampled one, which is right only if the
// interrupt is taken once the stalled access has retired (facts: software_engine 1: skid of exactly
// one instruction on Zen 3). So it is measured: cpu-clock ticks fall into
//
//     nop nop nop nop | lock addq $1, (line in L1) | nop nop nop nop
//
// where nearly all time is spent in the locked add. The share of ticks whose IP is the instruction
// after it is what the profile records.
//
// The same loop shows what one tick costs the thread it falls into: bursts with one tick in them take
// so much longer than bursts without.
//
// Calling thread: any, best the drain thread; it burns at most 20 ms of its CPU time. Raw system
// calls only; every descriptor and mapping is gone on return.
#ifndef MEMAGENT_AGENT_CAPTURE_SKID_CALIBRATION_H_
#define MEMAGENT_AGENT_CAPTURE_SKID_CALIBRATION_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <span>

namespace memagent::capture {

struct SkidCalibration {
  uint32_t ticks_on_access = 0;  // IP on the locked add itself
  uint32_t ticks_on_next = 0;    // IP on the instruction after it
  uint32_t ticks_total = 0;      // inside the loop; 0: nothing was measured
  double tick_nanos = 0;         // CPU time that one tick takes; 0: not known
  int error = 0;                 // positive errno that stopped it, 0 when it ran

  // Enough ticks to tell, and nearly all on the next instruction: "the previous instruction" then
  // names the access. Measured: 100 % on Zen 3; 92 to 98 % on Zen 5, the rest on the nop before the
  // access, which is not blamed on memory either way.
  bool holds() const { return ticks_total >= 20 && ticks_on_next * 100ull >= ticks_total * 80ull; }
};

// `access`: what the samples are to hold, as in the event that is in use; nullptr: the address only.
SkidCalibration CalibrateSkid(const perf_event_attr* access = nullptr);

// How much longer the bursts with one tick took, in ticks of the time-stamp counter: the difference
// of the medians, which interruptions of another kind don't move. 0 with fewer than 16 of either.
uint64_t ExtraTicks(std::span<uint64_t> without, std::span<uint64_t> with_one);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_SKID_CALIBRATION_H_
