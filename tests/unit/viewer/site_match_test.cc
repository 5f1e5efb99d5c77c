#include "viewer/site_match.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace memagent::viewer {
namespace {

CodeLine Line(const std::string& function, uint32_t line) {
  CodeLine code;
  code.function = code.short_function = function;
  code.file = "x.cc";
  code.line = line;
  return code;
}

SiteView Site(std::vector<CodeLine> stack, uint64_t bytes = 0) {
  SiteView site;
  site.kind = "heap";
  site.where = stack.front();
  site.stack = std::move(stack);
  site.bytes_allocated = bytes;
  return site;
}

SiteView Variable(const std::string& name) {
  SiteView site;
  site.kind = "global";
  site.name = site.where.function = site.where.short_function = name;
  return site;
}

std::vector<SitePair> Match(const std::vector<SiteView>& before, const std::vector<SiteView>& after,
                            bool same_code = false) {
  Sites a;
  Sites b;
  for (const SiteView& site : before) a.push_back(&site);
  for (const SiteView& site : after) b.push_back(&site);
  return MatchSites(a, b, same_code);
}

TEST(MatchSites, MovedLinesAreTheSameStack) {
  const std::vector<SiteView> before = {Site({Line("a", 10), Line("main", 50)})};
  const std::vector<SiteView> after = {Site({Line("a", 12), Line("main", 50)})};
  const auto pairs = Match(before, after);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].how, MatchedBy::kCallStack);
  EXPECT_TRUE(pairs[0].moved);
  EXPECT_FALSE(Match(before, before)[0].moved);
}

TEST(MatchSites, VariablesMatchByName) {
  const std::vector<SiteView> before = {Variable("g_a"), Variable("g_b")};
  const std::vector<SiteView> after = {Variable("g_b"), Variable("g_c")};
  const auto pairs = Match(before, after);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].how, MatchedBy::kName);
  EXPECT_EQ(pairs[0].before->name, "g_b");
  EXPECT_EQ(pairs[1].how, MatchedBy::kNothing);
  EXPECT_EQ(pairs[2].how, MatchedBy::kNothing);
}

// A wrapper that is plumbing came, and the order of two callers changed.
TEST(MatchSites, SameFunctionsInOtherOrderMatch) {
  const std::vector<SiteView> before = {Site({Line("a", 1), Line("b", 2), Line("main", 3)})};
  const std::vector<SiteView> after = {
      Site({Line("operator new", 9), Line("a", 1), Line("main", 3), Line("b", 2)})};
  EXPECT_EQ(Match(before, after)[0].how, MatchedBy::kFunctions);
}

TEST(MatchSites, OtherCallersMatchByFunctionLast) {
  const std::vector<SiteView> before = {Site({Line("a", 1), Line("main", 3)})};
  const std::vector<SiteView> after = {Site({Line("a", 1), Line("run", 3)})};
  EXPECT_EQ(Match(before, after)[0].how, MatchedBy::kFunction);
}

TEST(MatchSites, SeveralWithOneStackPairInTheOrderOfLines) {
  const std::vector<SiteView> before = {Site({Line("a", 1), Line("main", 20)}, 2),
                                        Site({Line("a", 1), Line("main", 10)}, 1)};
  const std::vector<SiteView> after = {Site({Line("a", 1), Line("main", 13)}, 1),
                                       Site({Line("a", 1), Line("main", 23)}, 2)};
  const auto pairs = Match(before, after);
  ASSERT_EQ(pairs.size(), 2u);
  for (const SitePair& pair : pairs) {
    EXPECT_EQ(pair.before->bytes_allocated, pair.after->bytes_allocated);
  }
}

TEST(MatchSites, OneInsertedDoesNotShiftThoseThatDidNotMove) {
  const std::vector<SiteView> before = {Site({Line("a", 1), Line("main", 10)}, 1),
                                        Site({Line("a", 1), Line("main", 20)}, 2)};
  const std::vector<SiteView> after = {Site({Line("a", 1), Line("main", 5)}, 3),
                                       Site({Line("a", 1), Line("main", 10)}, 1),
                                       Site({Line("a", 1), Line("main", 20)}, 2)};
  const auto pairs = Match(before, after);
  ASSERT_EQ(pairs.size(), 3u);
  for (const SitePair& pair : pairs) {
    if (pair.before == nullptr) {
      EXPECT_EQ(pair.after->bytes_allocated, 3u);
    } else {
      EXPECT_EQ(pair.before->bytes_allocated, pair.after->bytes_allocated);
    }
  }
}

TEST(MatchSites, SeveralOnOneLinePairBySize) {
  const std::vector<SiteView> before = {Site({Line("a", 1)}, 100), Site({Line("a", 1)}, 5)};
  const std::vector<SiteView> after = {Site({Line("a", 1)}, 6), Site({Line("a", 1)}, 90)};
  for (const SitePair& pair : Match(before, after)) {
    EXPECT_EQ(pair.before->bytes_allocated < 50, pair.after->bytes_allocated < 50);
  }
}

// As a call at this address of a program.
SiteView SiteAt(uint64_t address, uint64_t bytes = 0) {
  CodeLine code = Line("a", 1);
  code.module = "/opt/program";
  code.address = address;
  return Site({code}, bytes);
}

TEST(MatchSites, TwoCallsOnOneLinePairInTheOrderOfTheirAddresses) {
  // The first has become the smaller one.
  const std::vector<SiteView> before = {SiteAt(0x20, 5), SiteAt(0x10, 100)};
  const std::vector<SiteView> after = {SiteAt(0x38, 6), SiteAt(0x18, 2)};
  const auto pairs = Match(before, after);
  ASSERT_EQ(pairs.size(), 2u);
  for (const SitePair& pair : pairs) {
    EXPECT_EQ(pair.before->where.address < 0x18, pair.after->where.address < 0x20);
  }
}

TEST(MatchSites, OtherAddressInTheSameCodeIsAnotherSite) {
  const std::vector<SiteView> before = {SiteAt(0x10), SiteAt(0x20)};
  const std::vector<SiteView> after = {SiteAt(0x20), SiteAt(0x30)};
  const auto pairs = Match(before, after, true);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].before->where.address, 0x20u);
  EXPECT_EQ(pairs[0].after->where.address, 0x20u);
  EXPECT_EQ(pairs[0].how, MatchedBy::kCallStack);
  EXPECT_EQ(pairs[1].how, MatchedBy::kNothing);
  EXPECT_EQ(Match(before, after).size(), 2u);  // of other code all may have moved
}

TEST(MatchSites, DepthOfARecursionInTheSameCodeIsNoOtherSite) {
  CodeLine call = Line("walk", 2);
  call.module = "/opt/program";
  call.address = 0x50;
  const CodeLine allocation = SiteAt(0x10).where;
  const std::vector<SiteView> before = {Site({allocation, call, call})};
  const std::vector<SiteView> after = {Site({allocation, call, call, call})};
  const auto pairs = Match(before, after, true);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].how, MatchedBy::kFunctions);
}

// Code that is made at run time.
TEST(MatchSites, AddressWithoutAModuleSaysNothing) {
  std::vector<SiteView> before = {SiteAt(0x7f0010)};
  std::vector<SiteView> after = {SiteAt(0x7e0010)};
  before[0].stack[0].module = after[0].stack[0].module = "";
  EXPECT_EQ(Match(before, after, true).size(), 1u);
}

TEST(MatchSites, OtherKindIsAnotherSite) {
  const std::vector<SiteView> before = {Site({Line("a", 1)})};
  std::vector<SiteView> after = before;
  after[0].kind = "mmap";
  EXPECT_EQ(Match(before, after).size(), 2u);
}

}  // namespace
}  // namespace memagent::viewer
