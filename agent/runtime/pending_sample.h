// A sample out of a ring, not yet resolved.
#ifndef MEMAGENT_AGENT_RUNTIME_PENDING_SAMPLE_H_
#define MEMAGENT_AGENT_RUNTIME_PENDING_SAMPLE_H_

#include <optional>

#include "agent/decode/hardware_access.h"
#include "agent/decode/sample.h"

namespace memagent::runtime {

struct PendingSample {
  decode::RawSample raw;
  uint32_t thread = 0;    // serial of its thread
  uint64_t fs_base = 0;   // of its thread
  bool is_fault = false;  // a page fault: raw.address is exact
  bool in_ticks = false;  // raw.time is the CPU's counter: hardware wrote it, not the kernel
  // What the hardware said, where an engine of hardware took it; else the access is to be resolved.
  std::optional<decode::HardwareAccess> hardware;
  double scale = 1;  // how many samples of the nominal period or page faults it stands for
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_PENDING_SAMPLE_H_
