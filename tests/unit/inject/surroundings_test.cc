#include "inject/surroundings.h"

#include <gtest/gtest.h>

#include "tests/support/temp_tree.h"

namespace memagent::inject {
namespace {

TEST(UserNamespace, IsAnyMapThatIsNotTheWholeIdentity) {
  EXPECT_FALSE(IsUserNamespace("         0          0 4294967295\n"));
  EXPECT_TRUE(IsUserNamespace("         0       1000          1\n"));
  EXPECT_TRUE(IsUserNamespace("0 100000 65536\n"));
  EXPECT_FALSE(IsUserNamespace(""));
  EXPECT_FALSE(IsUserNamespace("nonsense"));
}

TEST(Seccomp, IsReadFromStatus) {
  EXPECT_TRUE(HasSeccomp("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"));
  EXPECT_FALSE(HasSeccomp("Name:\tx\nSeccomp:\t0\n"));
  EXPECT_FALSE(HasSeccomp("Name:\tx\nSeccomp_filters:\t1\n"));
  EXPECT_FALSE(HasSeccomp("Name:\tx\nSeccomp:"));
}

TEST(Rights, ContainersShowByTheirFiles) {
  testing::TempTree tree;
  EXPECT_EQ(ReadRights({}, tree.root()).container, "");
  tree.Write("run/systemd/container", "lxc\n");
  EXPECT_EQ(ReadRights({}, tree.root()).container, "lxc");
  tree.Write("run/.containerenv", "");
  EXPECT_EQ(ReadRights({}, tree.root()).container, "podman");
  tree.Write(".dockerenv", "");
  tree.Write("proc/self/status", "Name:\tx\nSeccomp:\t2\n");
  tree.Write("proc/self/uid_map", "0 100000 65536\n");
  const RightsFinding rights = ReadRights({.perfmon = true}, tree.root());
  EXPECT_EQ(rights.container, "docker");
  EXPECT_TRUE(rights.seccomp && rights.user_namespace && rights.perfmon);
  EXPECT_FALSE(rights.sys_admin);
}

}  // namespace
}  // namespace memagent::inject
