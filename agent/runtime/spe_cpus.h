// What each CPU's SPE records are written in: cores of one machine may differ.
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_SPE_CPUS_H_
#define MEMAGENT_AGENT_RUNTIME_SPE_CPUS_H_

#include <cstdint>
#include <string_view>

#include "agent/base/containers.h"
#include "agent/decode/spe_data_source.h"
#include "agent/os/pmu.h"

namespace memagent::runtime {

class SpeCpus {
 public:
  static constexpr uint32_t kUnknownCpu = UINT32_MAX;

  SpeCpus() = default;
  explicit SpeCpus(base::Vector<decode::SpeCpu> cpus) : cpus_(std::move(cpus)) {}

  // Of kUnknownCpu: what all CPUs have in common.
  decode::SpeCpu Of(uint32_t cpu) const;

 private:
  base::Vector<decode::SpeCpu> cpus_;  // by number
};

// MIDRs from sysfs, by the CPUs that the SPE PMUs cover.
SpeCpus ReadSpeCpus(const os::PmuFacts& pmus, std::string_view sys_root = "/sys");

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_SPE_CPUS_H_
