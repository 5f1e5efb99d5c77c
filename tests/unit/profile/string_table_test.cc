#include "agent/profile/string_table.h"

#include <gtest/gtest.h>

#include <string>

namespace memagent::profile {
namespace {

TEST(StringTable, EmptyTextIsIdZeroAndNotStored) {
  StringTable table;
  EXPECT_EQ(table.Intern(""), 0u);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.Text(0), "");
}

TEST(StringTable, SameTextGetsTheSameId) {
  StringTable table;
  EXPECT_EQ(table.Intern("a"), 1u);
  EXPECT_EQ(table.Intern("b"), 2u);
  EXPECT_EQ(table.Intern("a"), 1u);
  EXPECT_EQ(table.size(), 2u);
}

TEST(StringTable, ManyTextsKeepTheirIdsWhileTheTableGrows) {
  StringTable table;
  for (uint32_t i = 1; i <= 20000; ++i) ASSERT_EQ(table.Intern("text" + std::to_string(i)), i);
  for (uint32_t i = 1; i <= 20000; ++i) {
    ASSERT_EQ(table.Text(i), "text" + std::to_string(i));
    ASSERT_EQ(table.Intern("text" + std::to_string(i)), i);
  }
}

TEST(StringTable, OverlongTextIsCut) {
  StringTable table;
  const std::string text(StringTable::kMaxTextBytes + 5, 'x');
  const uint32_t id = table.Intern(text);
  EXPECT_EQ(table.Text(id).size(), StringTable::kMaxTextBytes);
  EXPECT_EQ(table.Intern(text), id);
}

}  // namespace
}  // namespace memagent::profile
