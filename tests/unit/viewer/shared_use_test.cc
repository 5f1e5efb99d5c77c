#include "viewer/shared_use.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "viewer/nodes.h"
#include "viewer/view.h"

namespace memagent::viewer {
namespace {

TEST(SharedUse, NodesWithoutMemoryAreNoUsers) {
  View view;
  v1::Machine& machine = *view.profile.header.mutable_machine();
  for (const uint32_t id : {0u, 1u, 2u}) {
    v1::Node& node = *machine.add_nodes();
    node.set_id(id);
    node.set_cpu_list("1");
    if (id != 1) node.set_memory_total_bytes(uint64_t{1} << 30);
  }
  view.nodes = NodesOf(machine);
  EXPECT_EQ(UsersOf(view, {{0, 10}, {1, 10}, {2, 10}}), (std::vector<int32_t>{0, 2}));
}

TEST(SharedUse, ConcentratedIsAboveTheEvenShare) {
  EXPECT_DOUBLE_EQ(ConcentratedShare(2), 0.75);
  EXPECT_DOUBLE_EQ(ConcentratedShare(4), 0.375);
  EXPECT_DOUBLE_EQ(ConcentratedShare(1), 0.99);
}

}  // namespace
}  // namespace memagent::viewer
