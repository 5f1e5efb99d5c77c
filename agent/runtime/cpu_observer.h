// A plan's access events opened for whole CPUs, where threads can't have them (IBS before Linux
// 6.2): one ring for each CPU, for the process. What it holds of other processes is passed over.
//
// No such ring is watched by the hooks (ledger/hook_clock.h): its head moves with every program's
// samples, and there are more CPUs than places on the list. Page faults stay with the threads.
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_CPU_OBSERVER_H_
#define MEMAGENT_AGENT_RUNTIME_CPU_OBSERVER_H_

#include <cstdint>
#include <span>

#include "agent/base/containers.h"
#include "agent/capture/engine_plan.h"
#include "agent/os/perf_ring.h"
#include "agent/runtime/access_events.h"
#include "agent/runtime/open_outcome.h"
#include "agent/runtime/pending_sample.h"

namespace memagent::runtime {

// What was read that is no sample of this process.
struct CpuLosses {
  uint64_t malformed = 0;
  // Samples that found no room, of all processes, scaled as the others, and what of them may have
  // been this one's: the share that it has of the records that were read from the same CPU.
  uint64_t lost = 0;
  double lost_here = 0;
};

class CpuObserver {
 public:
  CpuObserver() = default;
  ~CpuObserver() { Close(); }
  CpuObserver(const CpuObserver&) = delete;
  CpuObserver& operator=(const CpuObserver&) = delete;

  // Opens on all of `cpus`, or, where one of them can't, on none. A ring too big for the
  // locked-memory allowance is halved.
  OpenOutcome Open(const capture::EnginePlan& plan, std::span<const uint32_t> cpus,
                   uint64_t ring_pages);
  void Close();
  bool open() const { return !cpus_.empty(); }
  size_t size() const { return cpus_.size(); }

  // Appends the samples of process `pid`; whose thread they are is told by raw.tid. True when some
  // ring was over a quarter full.
  bool Read(int32_t pid, const decode::IbsProcessor& processor, base::Vector<PendingSample>& batch);
  // Asks the kernel. What was lost since the last call.
  CpuLosses TakeLosses();

  void SetPeriod(const capture::EnginePlan& plan, uint32_t factor, uint64_t random);
  uint32_t period_factor() const { return period_factor_; }

  // Of the plan's events, over all CPUs.
  base::Vector<EventCounts> Sum() const;

 private:
  struct Cpu {
    AccessEvents events;
    os::PerfRing ring;
    uint64_t read = 0;       // records, of all processes
    uint64_t read_here = 0;  // of ours
    uint64_t malformed = 0;
  };

  bool OpenCpu(const capture::EnginePlan& plan, uint32_t number, uint64_t ring_pages,
               OpenOutcome& outcome);
  static long MapRing(Cpu& cpu, uint64_t pages, OpenOutcome& outcome);
  static void Take(std::span<const uint8_t> bytes, int32_t pid,
                   const decode::IbsProcessor& processor, Cpu& cpu,
                   base::Vector<PendingSample>& batch);

  base::OrderedMap<uint32_t, Cpu> cpus_;  // by number
  uint32_t period_factor_ = 1;
};

// The CPUs that are online; empty where sysfs does not say.
base::Vector<uint32_t> OnlineCpus(const char* path = "/sys/devices/system/cpu/online");

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_CPU_OBSERVER_H_
