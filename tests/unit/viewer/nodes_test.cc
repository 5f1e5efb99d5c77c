#include "viewer/nodes.h"

#include <gtest/gtest.h>

#include "tests/unit/viewer/placed_site.h"

namespace memagent::viewer {
namespace {

TEST(Nodes, NodeWithoutMemoryHasNone) {
  PlacedSite site(3);
  site.machine().mutable_nodes(1)->set_memory_total_bytes(0);
  const View view = site.Build();
  EXPECT_TRUE(HasMemory(view, 0));
  EXPECT_FALSE(HasMemory(view, 1));
  EXPECT_FALSE(HasMemory(view, 7));
  EXPECT_FALSE(HasMemory(view, -1));
}

TEST(Nodes, WhereNoMemoryIsToldAllMayHaveSome) {
  PlacedSite site(2);
  for (v1::Node& node : *site.machine().mutable_nodes()) node.set_memory_total_bytes(0);
  EXPECT_TRUE(HasMemory(site.Build(), 1));
}

TEST(Nodes, CpusAreTakenFromListsAndFromNodesOfCpus) {
  PlacedSite site(3);
  for (v1::Node& node : *site.machine().mutable_nodes()) node.clear_cpu_list();
  EXPECT_TRUE(HasCpus(site.Build(), 2));  // nothing is told
  site.machine().add_cpu_nodes(1);
  const View view = site.Build();
  EXPECT_TRUE(HasCpus(view, 1));
  EXPECT_FALSE(HasCpus(view, 2));
  EXPECT_FALSE(HasCpus(view, -1));
}

TEST(Nodes, DistancesAreByPlaceInTheListNotByNumber) {
  PlacedSite site(2);
  site.machine().mutable_nodes(1)->set_id(8);
  site.Distances({10, 30, 31, 10});
  const View view = site.Build();
  EXPECT_EQ(NodeDistance(view, 0, 8), 30u);
  EXPECT_EQ(NodeDistance(view, 8, 0), 31u);
  EXPECT_FALSE(NodeDistance(view, 0, 1).has_value());
}

}  // namespace
}  // namespace memagent::viewer
