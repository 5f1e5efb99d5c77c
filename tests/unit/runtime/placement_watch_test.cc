// What is said of calls and pages, on a machine with two nodes that are made up.
#include "agent/runtime/placement_watch.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "agent/attribute/modules.h"
#include "agent/capture/placement.h"
#include "agent/capture/stack_trie.h"
#include "agent/ledger/site_table.h"

namespace memagent::runtime {
namespace {

constexpr size_t kBytes = size_t{1} << 20;

class PlacementWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    ledger::ForgetPlacementCalls();
    topology_.nodes.resize(2);
    topology_.nodes[0].id = NodeId{0};
    topology_.nodes[1].id = NodeId{1};
    topology_.node_of_cpu.assign(80, NodeId{1});
    memory_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory_, MAP_FAILED);
  }
  void TearDown() override { munmap(memory_, kBytes); }

  uint64_t start() const { return reinterpret_cast<uint64_t>(memory_); }
  static SiteId NewSite(uintptr_t pc) {
    return ledger::SiteOfStack(RegionKind::kHeap, capture::InternFrame(StackId::kNone, pc));
  }

  // The policies that are counted for a site whose first page has just been touched.
  size_t PoliciesOf(SiteId site) {
    aggregate::ResolvedSample fault;
    fault.thread = 1;
    fault.time = 1;
    fault.access.address = start();
    fault.attribution = {site, {}, start(), kBytes};
    aggregator_.AddFault(fault);
    watch_.AskAboutPages();
    return aggregator_.FindSite(site)->policies.size();
  }

  // The nodes of a call that names the CPUs 3 and 70.
  std::vector<uint32_t> NodesOfCpuCall() {
    ledger::PlacementCall call;
    call.kind = ledger::PlacementKind::kSchedSetaffinity;
    call.mask_is_cpus = true;
    call.mask.Set(3);
    call.mask.Set(70);
    ledger::PushPlacementCall(call);
    watch_.TakeCalls();
    const profile::PlacementData data = watch_.Data([](StackId) { return 0u; });
    std::vector<uint32_t> nodes;
    for (const auto& row : data.calls) {
      row.nodes.ForEach([&](uint32_t node) { nodes.push_back(node); });
    }
    return nodes;
  }

  void* memory_ = nullptr;
  os::Topology topology_;
  base::Options options_;
  os::TscClock clock_;
  EventLog log_;
  attribute::Modules modules_;
  attribute::Attributor attributor_{modules_};
  aggregate::Aggregator aggregator_{0};
  const int32_t pid_ = getpid();
  Observation observation_{options_, attributor_, aggregator_, clock_, log_, pid_, 0};
  PlacementWatch watch_{attributor_, aggregator_, observation_, clock_, pid_};
};

TEST_F(PlacementWatchTest, CpusAreToldAsTheirNodes) {
  watch_.Begin(&topology_);
  EXPECT_EQ(NodesOfCpuCall(), std::vector<uint32_t>{1});
}

TEST_F(PlacementWatchTest, CpusAreNoNodesWhereTheTopologyIsNotKnown) {
  EXPECT_EQ(NodesOfCpuCall(), std::vector<uint32_t>{});
}

// The block may have been freed, and its policy taken back, before the page is asked about.
TEST_F(PlacementWatchTest, DefaultSaysNothingOfASiteWhoseBlocksArePlaced) {
  static const std::string lines[2] = {"a\tb\tlocal\tany\taa:1-2", "c\td\thuge\tany\taa:3-4"};
  static base::PlacementRule rules[2];
  for (int i = 0; i < 2; ++i) ASSERT_EQ(base::ParsePlacementRule(lines[i], rules[i]), "");
  capture::SetPlacementRules(rules);
  watch_.Begin(&topology_);
  const SiteId other = NewSite(0x1000);
  if (PoliciesOf(other) == 0) GTEST_SKIP() << "get_mempolicy is refused here";
  const SiteId placed = NewSite(0x2000);
  const SiteId huge = NewSite(0x3000);
  aggregator_.ForgetPages(start(), kBytes);
  ledger::CountersOf(placed)->placement = 2;  // the first rule
  EXPECT_EQ(PoliciesOf(placed), 0u);
  aggregator_.ForgetPages(start(), kBytes);
  ledger::CountersOf(huge)->placement = 3;
  EXPECT_EQ(PoliciesOf(huge), 1u);
  capture::SetPlacementRules({});
}

}  // namespace
}  // namespace memagent::runtime
