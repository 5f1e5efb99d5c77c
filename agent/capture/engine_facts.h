// What the choice of an engine depends on: facts about machine, kernel and this process.
//
// Calling thread: the drain thread, while the host waits.
#ifndef MEMAGENT_AGENT_CAPTURE_ENGINE_FACTS_H_
#define MEMAGENT_AGENT_CAPTURE_ENGINE_FACTS_H_

#include <string_view>

#include "agent/os/machine.h"
#include "agent/os/pmu.h"

namespace memagent::capture {

struct EngineFacts {
  os::CpuInfo cpu;
  os::KernelSettings kernel;
  os::PmuFacts pmus;
  os::Privileges privileges;

  // Kernel code and physical addresses may be sampled (facts: perf_abi 1.8). Where capabilities are
  // those of a user namespace the kernel may still say no.
  bool may_sample_kernel() const {
    return kernel.perf_event_paranoid <= 1 || privileges.perfmon || privileges.sys_admin;
  }
  // The same for events of a whole CPU.
  bool may_sample_cpus() const {
    return kernel.perf_event_paranoid <= 0 || privileges.perfmon || privileges.sys_admin;
  }
};

EngineFacts ReadEngineFacts(std::string_view proc_root = "/proc",
                            std::string_view sys_root = "/sys");

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_ENGINE_FACTS_H_
