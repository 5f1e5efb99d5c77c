// How long one kind of the agent's own work takes, learnt from a sample of its occurrences.
//
// One hook in about a thousand is timed where it runs, with the host's caches as they are: the
// time-stamp counter is read before and after. A read costs as much as a short hook (10 to 20 ns on
// Zen 3, more when it waits for what is before it), so each timed hook also reads the counter twice
// in a row, and what lies between those is taken off again (kClockRead).
//
// Written by any thread (shared, but a thousand times more seldom than the work itself), read by
// the drain thread.
#ifndef MEMAGENT_AGENT_LEDGER_COST_METER_H_
#define MEMAGENT_AGENT_LEDGER_COST_METER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memagent::ledger {

enum class CostKind : uint8_t {
  kClockRead,    // two reads of the counter in a row
  kAllocation,   // recording one, without the walk of a new stack
  kFree,
  // From the start of a hook to where it asks for the time, which in these reads the counter:
  kAllocationToTime,  // so far it has found a remembered stack and counted for its site
  kFreeToTime,        // so far it has done nothing
  kNewStack,     // walking and remembering one
  kWalk,         // of some of these the walk alone,
  kWalkAgain,    // and the same walk at once again, when all that it reads is in the caches
  kThreadStart,  // CPU time of a starting thread until it runs the program's function; nanoseconds
  kCount,
};
inline constexpr size_t kCostKinds = static_cast<size_t>(CostKind::kCount);

// Sums over the occurrences that were sampled.
struct CostSums {
  uint64_t occurrences = 0;  // how many they stand for, the untimed ones included
  uint64_t samples = 0;      // timed
  uint64_t weight = 0;       // occurrences that the timed ones stand for
  uint64_t weighted_ticks = 0;
  uint64_t ticks = 0;
  uint64_t squared_ticks = 0;
  uint64_t interrupted = 0;  // took so long that another thread must have run: not timed
};

class CostMeter {
 public:
  // `ticks` for one occurrence that stands for `weight` of them.
  void Add(uint64_t ticks, uint64_t weight, uint64_t most_ticks = kInterruptedTicks) {
    AddUntimed(weight);
    if (ticks > most_ticks) return Bump(interrupted_, 1);
    Bump(samples_, 1);
    Bump(weight_, weight);
    Bump(weighted_ticks_, weight * ticks);
    Bump(ticks_, ticks);
    Bump(squared_ticks_, ticks * ticks);
  }
  // Work that takes long by itself.
  void AddLong(uint64_t ticks, uint64_t weight) { Add(ticks, weight, 8 * kInterruptedTicks); }
  // Was sampled, but for another purpose.
  void AddUntimed(uint64_t weight) { Bump(occurrences_, weight); }

  CostSums Read() const {
    return {Get(occurrences_), Get(samples_), Get(weight_),     Get(weighted_ticks_),
            Get(ticks_),       Get(squared_ticks_), Get(interrupted_)};
  }
  // Child of fork: what its parent measured is the parent's.
  void Forget() {
    for (auto* sum : {&occurrences_, &samples_, &weight_, &weighted_ticks_, &ticks_,
                      &squared_ticks_, &interrupted_}) {
      sum->store(0, std::memory_order_relaxed);
    }
  }

 private:
  // 16 to 32 us at 2 to 4 GHz. Page faults of our own tables (1 to 5 us) and timer interrupts, which
  // the hooks meet as often as the program does, stay below it; the turn of another thread does
  // not, and must not be multiplied by a thousand.
  static constexpr uint64_t kInterruptedTicks = uint64_t{1} << 16;

  static void Bump(std::atomic<uint64_t>& sum, uint64_t amount) {
    sum.fetch_add(amount, std::memory_order_relaxed);
  }
  static uint64_t Get(const std::atomic<uint64_t>& sum) {
    return sum.load(std::memory_order_relaxed);
  }

  std::atomic<uint64_t> occurrences_{0};
  std::atomic<uint64_t> samples_{0};
  std::atomic<uint64_t> weight_{0};
  std::atomic<uint64_t> weighted_ticks_{0};
  std::atomic<uint64_t> ticks_{0};
  std::atomic<uint64_t> squared_ticks_{0};
  std::atomic<uint64_t> interrupted_{0};
};

CostMeter& MeterOf(CostKind kind);
using AllCostSums = std::array<CostSums, kCostKinds>;
AllCostSums ReadCostMeters();
void ForgetCosts();

// Which of a thread's hooks is timed next. The gap between two is random, so that it can't lock
// onto a loop, and its mean grows from 16 to 1,024 over a process's first 65,000 hooks: programs
// that end early have their samples, and others don't pay for them.
struct SampleGap {
  uint32_t hooks;   // until the next one
  uint32_t weight;  // the mean gap: how many hooks that one stands for
};
// `first`: of a thread; the first gap begins anywhere in an ordinary one.
SampleGap NextSampleGap(bool first);

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_COST_METER_H_
