// From a batch of pending samples to counts: order by time, resolve, attribute, ask for nodes,
// aggregate. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_SAMPLE_PIPELINE_H_
#define MEMAGENT_AGENT_RUNTIME_SAMPLE_PIPELINE_H_

#include <string_view>

#include "agent/aggregate/aggregator.h"
#include "agent/attribute/attributor.h"
#include "agent/base/containers.h"
#include "agent/decode/access_resolver.h"
#include "agent/os/clock.h"
#include "agent/os/page_nodes.h"
#include "agent/os/topology.h"
#include "agent/runtime/pending_sample.h"

namespace memagent::runtime {

class SamplePipeline {
 public:
  SamplePipeline(attribute::Attributor& attributor, aggregate::Aggregator& aggregator,
                 const os::TscClock& clock)
      : attributor_(attributor), aggregator_(aggregator), clock_(clock), resolver_(code_) {}

  void SetTopology(const os::Topology* topology) { topology_ = topology; }
  // As /proc/cpuinfo spells the maker of the CPU.
  void SetCpuVendor(std::string_view vendor) {
    resolver_.SetCutsAccesses(vendor == "GenuineIntel");
  }

  // Samples older than this were promised to be gone; they are dropped as late.
  void SetSettled(Nanos settled) { settled_ = settled; }

  // Consumes the batch.
  void Process(base::Vector<PendingSample>& batch);

  // Libraries were unloaded: decoded code is forgotten. `unloads` is the count that caused it.
  void ForgetCode(uint32_t unloads) {
    resolver_.Flush();
    unloads_seen_ = unloads;
  }
  uint32_t unloads_seen() const { return unloads_seen_; }

  // Records that came out of the rings, of accesses and of page faults.
  uint64_t samples_taken() const { return samples_taken_; }
  uint64_t faults_taken() const { return faults_taken_; }

  const os::PageNodes& page_nodes() const { return page_nodes_; }

 private:
  // A page fault in heap memory that no block holds yet.
  struct DeferredFault {
    aggregate::ResolvedSample fault;
    Nanos next_try = 0;
  };

  void ResolveOne(const PendingSample& pending);
  // The allocator touches a fresh page itself, writing its own header, before it gives the block
  // out: such a fault belongs to the block that lies there a moment later.
  void RetryDeferredFaults();
  bool IsAgentCode(uint64_t ip) const;
  void AskNodes();
  NodeId NodeOfCpu(uint32_t cpu) const;

  attribute::Attributor& attributor_;
  aggregate::Aggregator& aggregator_;
  const os::TscClock& clock_;
  decode::ProcessCode code_;
  decode::AccessResolver resolver_;
  os::PageNodes page_nodes_;
  const os::Topology* topology_ = nullptr;
  Nanos settled_ = 0;
  uint32_t unloads_seen_ = 0;
  uint64_t samples_taken_ = 0;
  uint64_t faults_taken_ = 0;
  base::Vector<aggregate::ResolvedSample> resolved_;
  base::Vector<bool> is_fault_;
  base::Vector<DeferredFault> deferred_;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_SAMPLE_PIPELINE_H_
