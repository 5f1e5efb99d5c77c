#include "agent/capture/child_environment.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace memagent::capture {
namespace {

std::string Without(const std::string& list) {
  std::vector<char> out(list.size() + 2, '#');
  const size_t length = WithoutAgent(list, out.data());
  EXPECT_LE(length, list.size());
  EXPECT_EQ(out[length], '\0');
  EXPECT_EQ(out[list.size() + 1], '#') << "wrote beyond its room";
  return std::string(out.data(), length);
}

// The strings of a copy of `variables` without the agent, built in exactly the room measured.
std::vector<std::string> Child(std::vector<std::string> variables) {
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  const EnvironmentSize size = MeasureEnvironment(environment.data());
  EXPECT_EQ(size.strings, variables.size());
  std::vector<char*> strings(size.strings + 1);
  std::vector<char> text(size.text_bytes + 1, '#');
  BuildEnvironment(environment.data(), strings.data(), text.data());
  EXPECT_EQ(text.back(), '#') << "wrote beyond its room";
  std::vector<std::string> result;
  for (char** string = strings.data(); *string != nullptr; ++string) result.emplace_back(*string);
  return result;
}

using Strings = std::vector<std::string>;

TEST(WithoutAgent, AgentAloneLeavesNothing) {
  EXPECT_EQ(Without("libmemagent.so"), "");
  EXPECT_EQ(Without("/opt/lib/libmemagent.so"), "");
  EXPECT_EQ(Without(" :/opt/lib/libmemagent.so: "), "");
  EXPECT_EQ(Without("libmemagent.so:./libmemagent.so"), "");
}

TEST(WithoutAgent, OthersStayInOrderWhateverSeparatesThem) {
  EXPECT_EQ(Without("/a.so:/opt/libmemagent.so:/b.so"), "/a.so:/b.so");
  EXPECT_EQ(Without("/a.so /opt/libmemagent.so /b.so"), "/a.so:/b.so");
  EXPECT_EQ(Without("libmemagent.so /a.so"), "/a.so");
  EXPECT_EQ(Without("/a.so: :/b.so"), "/a.so:/b.so");
  EXPECT_EQ(Without(""), "");
}

TEST(WithoutAgent, SimilarNamesAreNotTheAgent) {
  for (const char* name : {"/x/libmemagent.so.1", "/x/notlibmemagent.so", "/libmemagent.so/a.so"}) {
    EXPECT_EQ(Without(name), name);
  }
}

TEST(BuildEnvironment, EnvironmentWithoutPreloadIsCopiedAsItIs) {
  EXPECT_EQ(Child({"A=1", "MY_LD_PRELOAD=libmemagent.so", "B="}),
            (Strings{"A=1", "MY_LD_PRELOAD=libmemagent.so", "B="}));
  EXPECT_EQ(Child({}), Strings{});
}

TEST(BuildEnvironment, PreloadOfTheAgentAloneIsDropped) {
  EXPECT_EQ(Child({"A=1", "LD_PRELOAD=/x/libmemagent.so", "B=2"}), (Strings{"A=1", "B=2"}));
}

TEST(BuildEnvironment, PreloadOfOthersStaysInItsPlace) {
  EXPECT_EQ(Child({"A=1", "LD_PRELOAD=/x/libmemagent.so:/y.so", "B=2"}),
            (Strings{"A=1", "LD_PRELOAD=/y.so", "B=2"}));
}

TEST(BuildEnvironment, RepeatedPreloadsAreAllEdited) {
  EXPECT_EQ(Child({"LD_PRELOAD=/x/libmemagent.so", "LD_PRELOAD=", "LD_PRELOAD=/y.so",
                   "LD_PRELOAD=/z.so libmemagent.so"}),
            (Strings{"LD_PRELOAD=/y.so", "LD_PRELOAD=/z.so"}));
}

TEST(BuildEnvironment, NoEnvironmentIsEmpty) {
  const EnvironmentSize size = MeasureEnvironment(nullptr);
  EXPECT_EQ(size.strings, 0u);
  char* strings[1] = {nullptr};
  char text[1];
  BuildEnvironment(nullptr, strings, text);
  EXPECT_EQ(strings[0], nullptr);
}

TEST(ChildEnvironment, AgentThatCannotBeReadIsSeen) {
  char gone[] = "LD_PRELOAD=/nowhere/libmemagent.so";
  char other_gone[] = "LD_PRELOAD=/nowhere/libother.so";
  char searched[] = "LD_PRELOAD=libmemagent.so";
  char* with_gone[] = {gone, nullptr};
  char* with_other[] = {other_gone, nullptr};
  char* with_searched[] = {searched, nullptr};
  EXPECT_FALSE(AgentIsReadable(with_gone));
  EXPECT_TRUE(AgentIsReadable(with_other));
  EXPECT_TRUE(AgentIsReadable(with_searched));
  EXPECT_TRUE(AgentIsReadable(nullptr));
}

}  // namespace
}  // namespace memagent::capture
