// The way of an event whose samples come through an AUX area (Arm SPE): a ring of its own, which
// announces what lies in the area behind it, and the area.
//
// Hardware writes the area by itself and the kernel announces it when half is full, when the thread
// leaves the CPU and when the period is set: so samples are older than those of other events. The
// ring must not be watched by the hooks (ledger/hook_clock.h): its head does not move with a
// sample. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_AUX_CHANNEL_H_
#define MEMAGENT_AGENT_RUNTIME_AUX_CHANNEL_H_

#include <cstdint>
#include <span>

#include "agent/base/containers.h"
#include "agent/decode/perf_record.h"
#include "agent/decode/spe_record.h"
#include "agent/os/aux_ring.h"
#include "agent/os/perf_ring.h"
#include "agent/runtime/observed_event.h"
#include "agent/runtime/open_outcome.h"
#include "agent/runtime/pending_sample.h"
#include "agent/runtime/spe_cpus.h"

namespace memagent::runtime {

// Records that came to nothing.
struct AuxLosses {
  uint64_t malformed = 0;  // of the ring
  uint64_t damaged = 0;    // of the area
};

class AuxChannel {
 public:
  AuxChannel() = default;
  ~AuxChannel();
  AuxChannel(const AuxChannel&) = delete;
  AuxChannel& operator=(const AuxChannel&) = delete;

  // Maps ring and area for an event that is not enabled yet. An area that is too big for the
  // locked-memory allowance is halved. False: `outcome` says what failed.
  bool Map(const ObservedEvent& event, OpenOutcome& outcome);

  // Appends what was announced since the last call, and counts it for `event`, which is started
  // again if the kernel stopped it because the area was full.
  AuxLosses Read(ObservedEvent& event, const SpeCpus& cpus, base::Vector<PendingSample>& batch);
  // What nobody will announce any more, of an event whose thread has ended.
  AuxLosses ReadRest(ObservedEvent& event, const SpeCpus& cpus, base::Vector<PendingSample>& batch);

  const os::AuxCounts& counts() const { return aux_.counts(); }

 private:
  // Where a piece of the area comes from.
  struct Origin {
    const SpeCpus& cpus;
    uint32_t cpu = SpeCpus::kUnknownCpu;
    Nanos time = 0;  // at which it was announced
  };

  long MapArea(const ObservedEvent& event);
  void Take(std::span<const uint8_t> bytes, ObservedEvent& event, const SpeCpus& cpus,
            base::Vector<PendingSample>& batch);
  void Decode(std::span<const uint8_t> bytes, uint64_t offset, const Origin& origin,
              ObservedEvent& event, base::Vector<PendingSample>& batch);

  os::PerfRing ring_;
  os::AuxRing aux_;
  base::Vector<uint8_t> scratch_;
  AuxLosses losses_;  // in this call
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_AUX_CHANNEL_H_
