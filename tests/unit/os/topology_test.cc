#include "agent/os/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_tree.h"

namespace memagent::os {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::TempTree;

constexpr char kNodes[] = "devices/system/node/";

void WriteNode(const TempTree& tree, int node, const char* cpus, const char* distances,
               const char* kib) {
  const std::string folder = kNodes + ("node" + std::to_string(node));
  tree.Write(folder + "/cpulist", cpus);
  tree.Write(folder + "/distance", distances);
  const std::string prefix = "Node " + std::to_string(node);
  tree.Write(folder + "/meminfo",
             prefix + " MemTotal:       " + kib + " kB\n" + prefix + " MemFree:         1 kB\n");
}

TEST(Topology, TwoSocketsAndAMemoryOnlyNodeWithAGap) {
  TempTree tree;
  tree.Write(std::string(kNodes) + "online", "0-1,4\n");
  WriteNode(tree, 0, "0-1,4\n", "10 20 17\n", "1024");
  WriteNode(tree, 1, "2-3\n", "20 10 28\n", "2048");
  WriteNode(tree, 4, "\n", "17 28 10\n", "4096");
  const Topology topology = ReadTopology(tree.root());
  ASSERT_EQ(topology.nodes.size(), 3u);
  EXPECT_FALSE(topology.assumed_one_node);
  EXPECT_EQ(topology.nodes[0].cpu_list, "0-1,4");
  EXPECT_EQ(topology.nodes[1].memory_total_bytes, 2048u << 10);
  EXPECT_EQ(topology.nodes[2].id, NodeId{4});
  EXPECT_THAT(topology.nodes[2].cpus, IsEmpty());
  EXPECT_THAT(topology.distances, ElementsAre(10, 20, 17, 20, 10, 28, 17, 28, 10));
  EXPECT_EQ(topology.Distance(NodeId{1}, NodeId{4}), 28u);
  EXPECT_EQ(topology.Distance(NodeId{1}, NodeId{3}), 0u);
  EXPECT_EQ(topology.NodeOfCpu(4), NodeId{0});
  EXPECT_EQ(topology.NodeOfCpu(3), NodeId{1});
  EXPECT_EQ(topology.NodeOfCpu(5), NodeId::kUnknown);
}

TEST(Topology, WithoutNodesThereIsOneFlaggedNode) {
  TempTree tree;
  tree.Write("devices/system/cpu/online", "0-7\n");
  const Topology topology = ReadTopology(tree.root());
  ASSERT_EQ(topology.nodes.size(), 1u);
  EXPECT_TRUE(topology.assumed_one_node);
  EXPECT_EQ(topology.nodes[0].cpus.size(), 8u);
  EXPECT_EQ(topology.NodeOfCpu(7), NodeId{0});
  EXPECT_EQ(topology.NodeOfCpu(99), NodeId{0});
}

TEST(Topology, EmptySysfsStillHasANode) {
  TempTree tree;
  const Topology topology = ReadTopology(tree.root());
  EXPECT_TRUE(topology.assumed_one_node);
  EXPECT_EQ(topology.NodeOfCpu(0), NodeId{0});
}

TEST(Topology, UnevenDistancesAreDropped) {
  TempTree tree;
  tree.Write(std::string(kNodes) + "online", "0-1\n");
  WriteNode(tree, 0, "0\n", "10 20\n", "1");
  WriteNode(tree, 1, "1\n", "20\n", "1");
  const Topology topology = ReadTopology(tree.root());
  EXPECT_THAT(topology.distances, IsEmpty());
  EXPECT_EQ(topology.Distance(NodeId{0}, NodeId{1}), 0u);
}

TEST(Topology, DamagedNodeFilesLeaveTheNodeEmpty) {
  TempTree tree;
  tree.Write(std::string(kNodes) + "online", "0\n");
  WriteNode(tree, 0, "3-1\n", "ten\n", "many");
  const Topology topology = ReadTopology(tree.root());
  ASSERT_EQ(topology.nodes.size(), 1u);
  EXPECT_THAT(topology.nodes[0].cpus, IsEmpty());
  EXPECT_EQ(topology.nodes[0].memory_total_bytes, 0u);
  EXPECT_EQ(topology.NodeOfCpu(0), NodeId::kUnknown);
}

TEST(Topology, ThisMachineKnowsTheNodeOfItsFirstCpu) {
  const Topology topology = ReadTopology();
  ASSERT_FALSE(topology.nodes.empty());
  EXPECT_NE(topology.NodeOfCpu(topology.nodes[0].cpus.empty() ? 0 : topology.nodes[0].cpus[0]),
            NodeId::kUnknown);
}

}  // namespace
}  // namespace memagent::os
