#include "agent/base/placement_rule.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace memagent::base {
namespace {

constexpr std::array<uint8_t, 2> kBuild = {0xab, 0x0c};
constexpr std::array<uint8_t, 2> kOther = {0xab, 0x0d};

CodePlace In(std::span<const uint8_t> build_id, uint64_t address) { return {build_id, 0, address}; }

PlacementRule Rule(std::string_view line) {
  PlacementRule rule;
  EXPECT_EQ(ParsePlacementRule(line, rule), "");
  return rule;
}

bool Matches(const PlacementRule& rule, const std::vector<CodePlace>& stack) {
  size_t at = 0;
  return RuleMatches(rule, [&](CodePlace& place) {
    if (at == stack.size()) return false;
    place = stack[at++];
    return true;
  });
}

TEST(PlacementRule, LineIsReadWithAllItsFields) {
  const PlacementRule rule =
      Rule("S1@a=bind:0+3\tmake < main\tbind:0+3\tinner\tab0c:10-20,30-40\t*");
  EXPECT_EQ(rule.text, "S1@a=bind:0+3");
  EXPECT_EQ(rule.meaning, "make < main");
  EXPECT_EQ(rule.kind, PlacementKind::kBind);
  EXPECT_EQ(rule.match, PlacementMatch::kInner);
  ASSERT_EQ(rule.node_list().size(), 2u);
  EXPECT_EQ(rule.node_list()[1], 3);
}

TEST(PlacementRule, EveryPlacementIsKnown) {
  PlacementRule rule;
  const std::pair<std::string_view, PlacementKind> words[] = {
      {"bind:1", PlacementKind::kBind},     {"interleave:0+1", PlacementKind::kInterleave},
      {"block:1+0", PlacementKind::kBlock}, {"local", PlacementKind::kLocal},
      {"huge", PlacementKind::kHuge},       {"nohuge", PlacementKind::kNoHuge}};
  for (const auto& [text, kind] : words) {
    EXPECT_EQ(ParsePlacement(text, rule), "") << text;
    EXPECT_EQ(rule.kind, kind) << text;
  }
}

TEST(PlacementRule, BadPlacementsAreRefused) {
  PlacementRule rule;
  for (const char* text :
       {"", "bind", "bind:", "bind:x", "bind:-1", "bind:1024", "bind:0,1", "bind:0++1",
        "interleave", "local:0", "huge:1", "spread:0", "bind:99999"}) {
    EXPECT_NE(ParsePlacement(text, rule), "") << text;
  }
  std::string many = "bind:0";
  for (int i = 0; i < 64; ++i) many += "+0";
  EXPECT_NE(ParsePlacement(many, rule), "");
}

TEST(PlacementRule, BadLinesAreRefused) {
  PlacementRule rule;
  for (const char* line :
       {"", "a", "a\tb", "a\tb\tlocal", "a\tb\tlocal\tstack", "a\tb\tlocal\twhole\t*",
        "a\tb\tlocal\tstack\tab0c", "a\tb\tlocal\tstack\tab0c:", "a\tb\tlocal\tstack\tab0:1-2",
        "a\tb\tlocal\tstack\tab0c:2-2", "a\tb\tlocal\tstack\tab0c:2-1",
        "a\tb\tlocal\tstack\tab0c:2", "a\tb\tlocal\tstack\tAB0C:1-2",
        "a\tb\tlocal\tstack\theaders=12:1-2", "a\tb\tlocal\tstack\t:1-2", "\tb\tlocal\tstack\t*",
        "a\t\tlocal\tstack\t*"}) {
    EXPECT_NE(ParsePlacementRule(line, rule), "") << line;
  }
}

TEST(PlacementRule, FrameIsItsModuleAndOneOfItsRanges) {
  EXPECT_TRUE(FrameMatches("ab0c:10-20", In(kBuild, 0x10)));
  EXPECT_TRUE(FrameMatches("ab0c:10-20,30-40", In(kBuild, 0x3f)));
  EXPECT_FALSE(FrameMatches("ab0c:10-20", In(kBuild, 0x20)));
  EXPECT_FALSE(FrameMatches("ab0c:10-20", In(kOther, 0x10)));
  EXPECT_FALSE(FrameMatches("ab0c:10-20", In({}, 0x10)));
  EXPECT_TRUE(FrameMatches("*", In({}, 0)));
}

TEST(PlacementRule, ModuleWithoutBuildIdIsToldByItsHeaders) {
  const uint64_t key = ProgramHeadersKey(kBuild);
  EXPECT_NE(key, ProgramHeadersKey(kOther));
  char frame[64];
  snprintf(frame, sizeof(frame), "headers=%016llx:10-20", static_cast<unsigned long long>(key));
  EXPECT_TRUE(FrameMatches(frame, {{}, key, 0x11}));
  EXPECT_FALSE(FrameMatches(frame, {{}, key + 1, 0x11}));
  EXPECT_FALSE(FrameMatches("headers=0000000000000000:10-20", {{}, 0, 0x11}));
}

TEST(PlacementRule, WholeStackMustHaveTheSameFrames) {
  const PlacementRule rule = Rule("r\tm\tlocal\tstack\tab0c:10-20\tab0c:30-40");
  EXPECT_TRUE(Matches(rule, {In(kBuild, 0x12), In(kBuild, 0x34)}));
  EXPECT_FALSE(Matches(rule, {In(kBuild, 0x34), In(kBuild, 0x12)}));
  EXPECT_FALSE(Matches(rule, {In(kBuild, 0x12)}));
  EXPECT_FALSE(Matches(rule, {In(kBuild, 0x12), In(kBuild, 0x34), In(kBuild, 0x34)}));
  EXPECT_FALSE(Matches(rule, {}));
}

TEST(PlacementRule, InnerFramesMayHaveAnyCallers) {
  const PlacementRule rule = Rule("r\tm\tlocal\tinner\tab0c:10-20\t*");
  EXPECT_TRUE(Matches(rule, {In(kBuild, 0x12), In({}, 1), In({}, 2)}));
  EXPECT_TRUE(Matches(rule, {In(kBuild, 0x12), In({}, 1)}));
  EXPECT_FALSE(Matches(rule, {In(kBuild, 0x12)}));
}

TEST(PlacementRule, AnyFrameOfTheStackIsEnough) {
  const PlacementRule rule = Rule("r\tm\tlocal\tany\tab0c:10-20\tab0d:1-2");
  EXPECT_TRUE(Matches(rule, {In({}, 1), In({}, 2), In(kBuild, 0x12)}));
  EXPECT_TRUE(Matches(rule, {In({}, 1), In(kOther, 1)}));
  EXPECT_FALSE(Matches(rule, {In(kOther, 0x12), In(kBuild, 1)}));
  EXPECT_FALSE(Matches(rule, {}));
}

}  // namespace
}  // namespace memagent::base
