#include "viewer/demangle.h"

#include <gtest/gtest.h>

#include <string>

namespace memagent::viewer {
namespace {

TEST(Demangle, MangledNameIsDemangled) { EXPECT_EQ(Demangle("_ZN4GridC1Ei"), "Grid::Grid(int)"); }

TEST(Demangle, OtherNamesStay) {
  EXPECT_EQ(Demangle("main"), "main");
  EXPECT_EQ(Demangle("_Zgarbage"), "_Zgarbage");
  EXPECT_EQ(Demangle(""), "");
}

TEST(Demangle, HugeNameIsNotTried) {
  const std::string huge = "_Z" + std::string(100'000, 'P') + "i";
  EXPECT_EQ(Demangle(huge), huge);
}

// f(B, pair<B, B>, pair<pair<B, B>, pair<B, B>>, ...): each parameter doubles the one before.
std::string Doubling(int levels) {
  constexpr char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string symbol = "_Z1f1BSt4pairIS_S_E";
  for (int i = 1; i < levels; ++i) {
    const std::string last = std::string("S") + kDigits[i] + "_";
    symbol += "S0_I" + last + last + "E";
  }
  return symbol;
}

TEST(Demangle, FewReferencesAreResolved) {
  EXPECT_EQ(Demangle(Doubling(2)),
            "f(B, std::pair<B, B>, std::pair<std::pair<B, B>, std::pair<B, B> >)");
}

TEST(Demangle, ReferencesThatCouldExplodeAreAbbreviated) {
  const std::string name = Demangle(Doubling(30));  // 32 GB in full
  EXPECT_TRUE(name.starts_with("f(B, std::pair<..., ...>, ...<..., ...>")) << name;
  EXPECT_LT(name.size(), 2000u);
}

TEST(Demangle, NestedPacksAreNotExpanded) {
  const std::string symbol = "_Z1fIJ" + std::string(500, 'i') + "EEvDpSt4pairIT_DpSt4pairIT_DpT_EE";
  EXPECT_LT(Demangle(symbol).size(), 10'000u);
}

TEST(Demangle, DigitsThatHideReferencesStayMangled) {
  std::string symbol = "_Z1fI";
  for (int i = 0; i < 40; ++i) symbol += "Lj4ES0_S0_E";
  EXPECT_LT(Demangle(symbol + "EvT_").size(), 2 * symbol.size());
}

}  // namespace
}  // namespace memagent::viewer
