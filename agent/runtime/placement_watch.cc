#include "agent/runtime/placement_watch.h"

#include <linux/mempolicy.h>

#include <algorithm>

#include "agent/capture/placement.h"
#include "agent/ledger/thread_record.h"
#include "agent/os/huge_pages.h"

namespace memagent::runtime {
namespace {

using ledger::PlacementCall;
using ledger::PlacementKind;

constexpr int32_t kUnknownThread = -1;

// A pthread_t is its thread's thread pointer (x86-64); elsewhere none is found.
int32_t TidOfHandle(uint64_t handle) {
  int32_t tid = kUnknownThread;
  ledger::ForEachThread([&](const ledger::ThreadRecord* record) {
    if (record->fs_base == handle) tid = record->tid;
  });
  return tid;
}

// Whether blocks of a site have a policy of our own while they are in use.
bool GetsPolicy(SiteId site) {
  const int rule = capture::PlacementOf(site);
  const auto rules = capture::PlacementRules();
  return rule >= 0 && static_cast<size_t>(rule) < rules.size() &&
         rules[static_cast<size_t>(rule)].kind <= base::PlacementKind::kLocal;
}

// A counter that could not be read is 0 now.
uint64_t Since(uint64_t start, uint64_t now) { return now > start ? now - start : 0; }

std::string_view ModeOf(const PlacementCall& call) {
  if (call.kind != PlacementKind::kMbind && call.kind != PlacementKind::kSetMempolicy) return {};
  return os::PolicyModeName(os::MakePolicy(call.mode_and_flags, call.mask).mode);
}

}  // namespace

void PlacementWatch::Begin(const os::Topology* topology) {
  topology_ = topology;
  if (!several_nodes()) return;
  if (const auto policy = policies_.OfThisThread()) book_.SetStartPolicy(*policy);
  nodes_.resize(topology_->nodes.size());
  LookAtNodes();
  for (NodeState& node : nodes_) node.start = node.now;
  balancing_start_ = balancing_;
}

// 0 for the caller and its process.
int32_t PlacementWatch::TargetOf(const PlacementCall& call) const {
  const int32_t tid =
      call.target_is_handle ? TidOfHandle(call.target) : static_cast<int32_t>(call.target);
  const bool of_process =
      call.kind == PlacementKind::kMigratePages || call.kind == PlacementKind::kMovePages;
  return tid == call.thread || (of_process && tid == pid_) ? 0 : tid;
}

void PlacementWatch::TakeCalls() {
  const uint64_t error_ticks =
      static_cast<uint64_t>(static_cast<double>(clock_.ErrorBoundNanos()) / clock_.NanosPerTick());
  book_.SetClockError(clock_.ErrorBoundNanos());
  PlacementCall call;
  // At most as many as fit: a program that goes on calling is not waited for.
  for (uint64_t i = 0; i < ledger::kPlacementSlots && ledger::PopPlacementCall(call); ++i) {
    const int32_t target = TargetOf(call);
    if (call.kind == PlacementKind::kMovePages && target != 0) call.address = 0;  // not our memory
    SiteId site = SiteId::kUnknown;
    if (call.address != 0) site = attributor_.Attribute(call.address, {call.tsc, error_ticks}).site;
    book_.Add(call, clock_.ToNanos(call.tsc), site, target);
  }
  book_.SetLost(ledger::LostPlacementCalls(), os::MonotonicNanos());
}

// Which policy governed a page: its mapping's, or that of the thread that touched it first. Pages
// that were accessed say so only of sites of which no first touch told it.
std::optional<aggregate::PolicyKey> PlacementWatch::PolicyAt(const aggregate::SiteStats& site,
                                                             const aggregate::FreshPage& page) {
  if (!page.touched && site.touched_policies != 0) return std::nullopt;
  if (page.touched && book_.PlacedSince(page.address, page.time)) return std::nullopt;
  const auto mapping = policies_.OfMapping(page.address);
  if (!mapping) return std::nullopt;
  if (mapping->mode != MPOL_DEFAULT) return aggregate::PolicyKey{*mapping, false};
  if (GetsPolicy(page.site)) return std::nullopt;  // it was freed since, and its policy taken back
  const auto origin_of = [this](uint32_t serial) -> std::optional<ThreadOrigin> {
    const auto known = observation_.threads().find(serial);
    if (known == observation_.threads().end()) return std::nullopt;
    const ThreadSummary& thread = known->second;
    return ThreadOrigin{thread.tid, thread.main, thread.creator, thread.created};
  };
  const auto of_thread = book_.PolicyOf(page.touched ? page.thread : 0, page.time, origin_of);
  if (!of_thread) return std::nullopt;
  return aggregate::PolicyKey{*of_thread, of_thread->mode != MPOL_DEFAULT};
}

void PlacementWatch::AskAboutPages() {
  if (!several_nodes()) return;
  std::optional<os::HugePages> huge_pages;  // opened for the first page
  aggregator_.TakeFreshPages([&](const aggregate::FreshPage& page) {
    aggregate::SiteStats* site = aggregator_.FindSite(page.site);
    if (site == nullptr) return;
    if (const auto policy = PolicyAt(*site, page)) {
      ++site->policies[*policy];
      site->touched_policies += page.touched;
    }
    if (page.touched) return;
    if (!huge_pages) huge_pages.emplace();
    if (const auto huge = huge_pages->IsHuge(page.address)) {
      ++site->huge_pages_asked;
      site->huge_pages += *huge;
    }
  });
}

void PlacementWatch::LookAtNodes() {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const NodeId id = topology_->nodes[i].id;
    NodeState& node = nodes_[i];
    node.now = os::ReadNumaStat(id);
    const auto free_bytes = os::ReadNodeMemFree(id);
    if (!free_bytes) continue;
    node.least_free_bytes =
        node.free_known ? std::min(node.least_free_bytes, *free_bytes) : *free_bytes;
    node.free_known = true;
  }
  if (!nodes_.empty()) balancing_ = os::ReadBalancingCounters();
}

// The youngest of the threads that had this number.
uint32_t PlacementWatch::SerialOf(Tid tid, Nanos time) const {
  const auto& threads = observation_.threads();
  uint32_t found = 0;
  for (const auto& [serial, thread] : threads) {
    if (thread.tid == tid && (found == 0 || thread.started <= time)) found = serial;
  }
  return found;
}

base::BitMask PlacementWatch::NodesOf(const PlacementCall& call) const {
  if (!call.mask_is_cpus) return call.mask;
  base::BitMask nodes;
  if (topology_ == nullptr) return nodes;
  call.mask.ForEach([&](uint32_t cpu) {
    const NodeId node = topology_->NodeOfCpu(cpu);
    if (node != NodeId::kUnknown) nodes.Set(static_cast<size_t>(node));
  });
  return nodes;
}

profile::PlacementCallData PlacementWatch::CallData(const PlacementRow& row) const {
  profile::PlacementCallData data;
  data.time = row.time;
  data.thread = SerialOf(row.first.thread, row.time);
  data.call = ledger::NameOf(row.first.kind);
  data.address = row.first.address;
  data.size_bytes = row.size_bytes;
  data.site = static_cast<uint32_t>(row.site);
  data.mode = ModeOf(row.first);
  data.nodes = NodesOf(row.first);
  data.target_tid = row.target_tid;
  data.calls = row.calls;
  data.refused = row.refused;
  data.refused_errno = row.refused_errno;
  return data;
}

profile::PlacementData PlacementWatch::DataBesideFrames() {
  node_rows_.clear();
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const NodeState& node = nodes_[i];
    node_rows_.push_back({static_cast<uint32_t>(topology_->nodes[i].id), node.least_free_bytes,
                          Since(node.start.hit, node.now.hit),
                          Since(node.start.miss, node.now.miss),
                          Since(node.start.foreign, node.now.foreign),
                          Since(node.start.interleave_hit, node.now.interleave_hit)});
  }
  profile::PlacementData data;
  data.calls = calls_;
  data.calls_left_out = book_.left_out();
  data.nodes = node_rows_;
  data.numa_pages_migrated = Since(balancing_start_.pages_migrated, balancing_.pages_migrated);
  data.numa_hint_faults = Since(balancing_start_.hint_faults, balancing_.hint_faults);
  return data;
}

}  // namespace memagent::runtime
