// Rules made from profiles of this test's own executable.
#include "inject/placement_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <filesystem>

#include "agent/base/placement_rule.h"
#include "tests/support/profile_builder.h"
#include "tests/support/temp_tree.h"

extern "C" [[gnu::used, gnu::noinline]] int memagent_lines_inner(int x) { return x * 13 + 1; }
extern "C" [[gnu::used, gnu::noinline]] int memagent_lines_outer(int x) { return x * 17 + 1; }

namespace memagent::inject {
namespace {

using ::testing::HasSubstr;

std::string Own() { return std::filesystem::read_symlink("/proc/self/exe").string(); }
uint64_t OwnAddress(int (*function)(int)) {
  uint64_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uint64_t*>(out) = info->dlpi_addr;
        return 1;
      },
      &bias);
  return reinterpret_cast<uint64_t>(function) - bias;
}

// The report's S1 is site 1 and so on.
uint32_t NumberOf(const profile::Profile&, std::string_view name) {
  return static_cast<uint32_t>(atoi(name.substr(1).data()));
}
constexpr ProfileQueries kQueries = {NumberOf, nullptr};

class PlacementLinesTest : public ::testing::Test {
 protected:
  // A profile of a program at `path` with sites: 1 inner < outer, 2 of a function that is not
  // there, 3 a global, 4 without names.
  std::string WriteProfile(const std::string& path, const std::string& build_id) {
    tests::ProfileBuilder builder;
    builder.header().mutable_process()->set_executable(path);
    const uint32_t module = builder.Module(path, build_id);
    const uint32_t inner =
        builder.Frame(module, OwnAddress(memagent_lines_inner) + 5, "memagent_lines_inner");
    const uint32_t outer =
        builder.Frame(module, OwnAddress(memagent_lines_outer) + 5, "memagent_lines_outer");
    const uint32_t gone = builder.Frame(module, 5, "memagent_lines_gone");
    const uint32_t bare = builder.Frame(module, 7, "");
    builder.Site(v1::HEAP, builder.Stack({inner, outer}));
    builder.Site(v1::HEAP, builder.Stack({gone, outer}));
    builder.Site(v1::GLOBAL, 0, "table");
    builder.Site(v1::HEAP, builder.Stack({bare, bare}));
    return tree_.Write("a.memagent", builder.Bytes());
  }
  std::string LineFor(const std::string& text, const std::string& program, std::string& problem) {
    PlacementRequest request;
    EXPECT_TRUE(ParsePlacementRequest(text, {0}, request, problem)) << problem;
    PlacementLines lines(program, kQueries);
    return lines.LineFor(request, problem);
  }
  static bool MatchesOwn(const std::string& line, std::vector<uint64_t> calls) {
    base::PlacementRule rule;
    EXPECT_EQ(base::ParsePlacementRule(line, rule), "") << line;
    const auto module = ModuleFile::Open(Own());
    size_t at = 0;
    const std::string_view id = module->build_id();
    return base::RuleMatches(rule, [&](base::CodePlace& place) {
      if (at == calls.size()) return false;
      place = {{reinterpret_cast<const uint8_t*>(id.data()), id.size()}, 0, calls[at++]};
      return true;
    });
  }

  memagent::testing::TempTree tree_;
};

TEST_F(PlacementLinesTest, SameBuildMeansTheVeryCall) {
  const auto module = ModuleFile::Open(Own());
  if (module->build_id().empty()) GTEST_SKIP() << "linked without a build id";
  const std::string profile = WriteProfile(Own(), std::string(module->build_id()));
  std::string problem;
  const std::string line = LineFor("S1@" + profile + "=local", Own(), problem);
  ASSERT_NE(line, "") << problem;
  const uint64_t inner = OwnAddress(memagent_lines_inner);
  const uint64_t outer = OwnAddress(memagent_lines_outer);
  EXPECT_TRUE(MatchesOwn(line, {inner + 4, outer + 4}));
  EXPECT_FALSE(MatchesOwn(line, {inner + 5, outer + 4}));
  EXPECT_THAT(line, HasSubstr("\tmemagent_lines_inner < memagent_lines_outer\tlocal\tstack\t"));
}

TEST_F(PlacementLinesTest, AnotherBuildMeansAnyCallInThoseFunctions) {
  if (ModuleFile::Open(Own())->build_id().empty()) GTEST_SKIP() << "linked without a build id";
  const std::string profile = WriteProfile("/old/place/of/program", "an older build");
  std::string problem;
  const std::string line = LineFor("S1@" + profile + "=local", Own(), problem);
  ASSERT_NE(line, "") << problem;
  const uint64_t inner = OwnAddress(memagent_lines_inner);
  const uint64_t outer = OwnAddress(memagent_lines_outer);
  EXPECT_TRUE(MatchesOwn(line, {inner + 1, outer + 2}));
  EXPECT_FALSE(MatchesOwn(line, {outer + 1, inner + 2}));
}

TEST_F(PlacementLinesTest, ProgramThatOnlyStartsTheProfiledOneIsLookedThrough) {
  const std::string profile = WriteProfile(Own(), "an older build");
  std::string problem;
  EXPECT_NE(LineFor("S1@" + profile + "=local", "/bin/true", problem), "") << problem;
}

TEST_F(PlacementLinesTest, WhatCannotBeFoundIsSaid) {
  const std::string profile = WriteProfile(Own(), "an older build");
  const std::pair<std::string, std::string> cases[] = {
      {"S2@" + profile + "=local", "memagent_lines_gone"},
      {"S3@" + profile + "=local", "nothing that the program allocates"},
      {"S4@" + profile + "=local", "nothing of its call stack"},
      {"S9@" + profile + "=local", "no site S9"},
      {"S1@/no/such.memagent=local", "/no/such.memagent"},
      {"fn:no_such_function=local", "no function no_such_function"},
      {"fn:f@/no/such.so=local", "no program or library"}};
  for (const auto& [text, words] : cases) {
    std::string problem;
    EXPECT_EQ(LineFor(text, Own(), problem), "") << text;
    EXPECT_THAT(problem, HasSubstr(words)) << text;
    EXPECT_EQ(problem.find(".."), std::string::npos) << problem;
  }
}

TEST_F(PlacementLinesTest, FunctionOfTheProgramIsAnywhereInTheStack) {
  if (ModuleFile::Open(Own())->build_id().empty()) GTEST_SKIP() << "linked without a build id";
  std::string problem;
  const std::string line = LineFor("fn:memagent_lines_outer=interleave:0", Own(), problem);
  ASSERT_NE(line, "") << problem;
  EXPECT_TRUE(MatchesOwn(line, {1, 2, OwnAddress(memagent_lines_outer)}));
  EXPECT_FALSE(MatchesOwn(line, {1, 2, OwnAddress(memagent_lines_inner)}));
}

}  // namespace
}  // namespace memagent::inject
