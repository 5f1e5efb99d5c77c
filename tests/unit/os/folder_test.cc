#include "agent/os/folder.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/temp_tree.h"

namespace memagent::os {
namespace {

TEST(ListFolder, NamesAreSortedWithoutDots) {
  testing::TempTree tree;
  for (const char* name : {"b", "a", ".c", "d/e"}) tree.Write(name, "");
  const auto names = ListFolder(tree.root().c_str());
  EXPECT_EQ(std::vector<std::string>(names.begin(), names.end()),
            (std::vector<std::string>{".c", "a", "b", "d"}));
}

TEST(ListFolder, MoreNamesThanOneReadGives) {
  testing::TempTree tree;
  for (int i = 100; i < 500; ++i) tree.Write("a_name_of_some_length_" + std::to_string(i), "");
  const auto names = ListFolder(tree.root().c_str());
  ASSERT_EQ(names.size(), 400u);
  EXPECT_EQ(names.front(), "a_name_of_some_length_100");
  EXPECT_EQ(names.back(), "a_name_of_some_length_499");
}

TEST(ListFolder, WhatIsNoFolderHasNoNames) {
  testing::TempTree tree;
  EXPECT_TRUE(ListFolder((tree.root() + "/missing").c_str()).empty());
  EXPECT_TRUE(ListFolder(tree.Write("file", "").c_str()).empty());
}

}  // namespace
}  // namespace memagent::os
