#include "viewer/symbol_index.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace memagent::viewer {
namespace {

constexpr uint32_t kText = 14;

std::string Found(const SymbolIndex& index, uint64_t address) {
  const char* name = index.Find(address);
  return name == nullptr ? "" : name;
}

TEST(SymbolIndex, AddressFromStartToEndIsCovered) {
  const SymbolIndex index(
      {{100, 20, kText, STB_GLOBAL, "second"}, {50, 10, kText, STB_GLOBAL, "first"}});
  EXPECT_EQ(Found(index, 49), "");
  EXPECT_EQ(Found(index, 50), "first");
  EXPECT_EQ(Found(index, 59), "first");
  EXPECT_EQ(Found(index, 60), "");
  EXPECT_EQ(Found(index, 119), "second");
  EXPECT_EQ(Found(index, 120), "");
}

TEST(SymbolIndex, OfSeveralAtOneAddressTheGlobalOneIsNamed) {
  const SymbolIndex index({{100, 20, kText, STB_GLOBAL, "global"},
                           {100, 20, kText, STB_LOCAL, "local"},
                           {100, 20, kText, STB_WEAK, "weak"}});
  EXPECT_EQ(Found(index, 110), "global");
}

TEST(SymbolIndex, InnermostOfNestedSymbolsIsNamed) {
  const SymbolIndex index({{100, 100, kText, STB_GLOBAL, "outer"},
                           {120, 10, kText, STB_LOCAL, "inner"},
                           {140, 10, kText, STB_LOCAL, "later"}});
  EXPECT_EQ(Found(index, 125), "inner");
  EXPECT_EQ(Found(index, 135), "outer");
  EXPECT_EQ(Found(index, 199), "outer");
}

TEST(SymbolIndex, SymbolWithoutSizeReachesToTheNextOfItsSection) {
  const SymbolIndex index({{100, 0, kText, STB_GLOBAL, "label"},
                           {150, 10, kText, STB_GLOBAL, "function"},
                           {200, 0, kText, STB_GLOBAL, "last"},
                           {300, 10, kText + 1, STB_GLOBAL, "elsewhere"}});
  EXPECT_EQ(Found(index, 149), "label");
  EXPECT_EQ(Found(index, 250), "");
  EXPECT_EQ(Found(index, 305), "elsewhere");
}

TEST(SymbolIndex, SizeBeyondTheAddressSpaceEndsThere) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const SymbolIndex index({{kMost - 10, kMost, kText, STB_GLOBAL, "high"}});
  EXPECT_EQ(Found(index, kMost - 1), "high");
  EXPECT_EQ(Found(index, 5), "");
}

TEST(SymbolIndex, NoSymbolsCoverNothing) { EXPECT_EQ(Found(SymbolIndex({}), 0), ""); }

}  // namespace
}  // namespace memagent::viewer
