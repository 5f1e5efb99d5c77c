// Where memory and threads are put: takes the program's placement calls, asks the kernel about pages
// that samples have shown for the first time, and looks at the nodes' counters.
//
// Pages and nodes are only looked at on machines with more than one node. Calling thread: the drain
// thread.
#ifndef MEMAGENT_AGENT_RUNTIME_PLACEMENT_WATCH_H_
#define MEMAGENT_AGENT_RUNTIME_PLACEMENT_WATCH_H_

#include <cstdint>
#include <optional>

#include "agent/aggregate/aggregator.h"
#include "agent/attribute/attributor.h"
#include "agent/base/containers.h"
#include "agent/os/clock.h"
#include "agent/os/memory_policy.h"
#include "agent/os/node_counters.h"
#include "agent/os/topology.h"
#include "agent/profile/model.h"
#include "agent/runtime/observation.h"
#include "agent/runtime/placement_book.h"

namespace memagent::runtime {

class PlacementWatch {
 public:
  PlacementWatch(attribute::Attributor& attributor, aggregate::Aggregator& aggregator,
                 const Observation& observation, const os::TscClock& clock, int32_t pid)
      : attributor_(attributor),
        aggregator_(aggregator),
        observation_(observation),
        clock_(clock),
        pid_(pid) {}

  // `topology` must outlive this. In the drain thread that was there first: it has the policy of the
  // thread that started it.
  void Begin(const os::Topology* topology);

  // Each tick: after the changes of mappings, before samples are counted; and after that.
  void TakeCalls();
  void AskAboutPages();

  // Each checkpoint. `frame_of(StackId)` is the frame of the code that called. What `Data` borrows
  // lives until the next call.
  void LookAtNodes();
  template <typename FrameOf>
  profile::PlacementData Data(FrameOf frame_of) {
    calls_.clear();
    for (const PlacementRow& row : book_.rows()) {
      calls_.push_back(CallData(row));
      calls_.back().frame = frame_of(row.first.stack);
    }
    return DataBesideFrames();
  }
  template <typename Visit>
  void ForEachCallStack(Visit visit) const {
    for (const PlacementRow& row : book_.rows()) visit(row.first.stack);
  }

 private:
  struct NodeState {
    os::NumaStat start;
    os::NumaStat now;
    uint64_t least_free_bytes = 0;
    bool free_known = false;
  };

  bool several_nodes() const { return topology_ != nullptr && topology_->nodes.size() > 1; }
  int32_t TargetOf(const ledger::PlacementCall& call) const;
  uint32_t SerialOf(Tid tid, Nanos time) const;
  base::BitMask NodesOf(const ledger::PlacementCall& call) const;
  profile::PlacementCallData CallData(const PlacementRow& row) const;
  profile::PlacementData DataBesideFrames();
  std::optional<aggregate::PolicyKey> PolicyAt(const aggregate::SiteStats& site,
                                               const aggregate::FreshPage& page);

  attribute::Attributor& attributor_;
  aggregate::Aggregator& aggregator_;
  const Observation& observation_;
  const os::TscClock& clock_;
  int32_t pid_;
  const os::Topology* topology_ = nullptr;
  PlacementBook book_;
  os::PolicyReader policies_;
  base::Vector<NodeState> nodes_;  // in the topology's order
  os::BalancingCounters balancing_start_;
  os::BalancingCounters balancing_;
  base::Vector<profile::PlacementCallData> calls_;
  base::Vector<profile::NodeCountersData> node_rows_;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_PLACEMENT_WATCH_H_
