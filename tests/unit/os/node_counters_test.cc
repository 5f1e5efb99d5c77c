#include "agent/os/node_counters.h"

#include <gtest/gtest.h>

#include "tests/support/temp_tree.h"

namespace memagent::os {
namespace {

using testing::TempTree;

TEST(NodeCounters, NumaStatIsReadByName) {
  const NumaStat stat = ParseNumaStat(
      "numa_hit 1213\nnuma_miss 5\nnuma_foreign 6\ninterleave_hit 7\nlocal_node 8\nother_node 9\n");
  EXPECT_EQ(stat.hit, 1213u);
  EXPECT_EQ(stat.miss, 5u);
  EXPECT_EQ(stat.foreign, 6u);
  EXPECT_EQ(stat.interleave_hit, 7u);
}

TEST(NodeCounters, WhatIsNoNumberIsZero) {
  const NumaStat stat = ParseNumaStat("numa_hit\nnuma_miss x\nnuma_foreign -1\nnuma_hits 4\n");
  EXPECT_EQ(stat.hit, 0u);
  EXPECT_EQ(stat.miss, 0u);
  EXPECT_EQ(stat.foreign, 0u);
}

TEST(NodeCounters, FreeMemoryIsInBytes) {
  EXPECT_EQ(ParseNodeMemFree("Node 0 MemTotal:  9 kB\nNode 0 MemFree:     1234 kB\n"), 1234u << 10);
  EXPECT_EQ(ParseNodeMemFree("Node 0 MemTotal:  9 kB\n"), std::nullopt);
  EXPECT_EQ(ParseNodeMemFree("Node 0 MemFree: 99999999999999999999 kB\n"), std::nullopt);
  EXPECT_EQ(ParseNodeMemFree("Node 0 MemFree: 18446744073709551615 kB\n"), std::nullopt);
}

TEST(NodeCounters, FilesAreThoseOfTheNode) {
  TempTree tree;
  tree.Write("devices/system/node/node4/numastat", "numa_hit 3\n");
  tree.Write("devices/system/node/node4/meminfo", "Node 4 MemFree: 2 kB\n");
  tree.Write("vmstat", "nr_free_pages 1\nnuma_hint_faults 11\nnuma_pages_migrated 12\n");
  EXPECT_EQ(ReadNumaStat(NodeId{4}, tree.root()).hit, 3u);
  EXPECT_EQ(ReadNodeMemFree(NodeId{4}, tree.root()), 2048u);
  EXPECT_EQ(ReadNumaStat(NodeId{5}, tree.root()).hit, 0u);
  EXPECT_EQ(ReadNodeMemFree(NodeId{5}, tree.root()), std::nullopt);
  EXPECT_EQ(ReadBalancingCounters(tree.root()).hint_faults, 11u);
  EXPECT_EQ(ReadBalancingCounters(tree.root()).pages_migrated, 12u);
}

}  // namespace
}  // namespace memagent::os
