#include "inject/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

namespace memagent::inject {
namespace {

using ::testing::HasSubstr;

LaunchResult Shell(const std::string& script) { return Launch({"sh", "-c", script}, {}); }

TEST(Launch, StatusIsTheProgramsOwn) {
  EXPECT_EQ(Shell("exit 0").status, 0);
  EXPECT_EQ(Shell("exit 7").status, 7);
  EXPECT_EQ(Shell("kill -TERM $$").status, 128 + SIGTERM);
}

TEST(Launch, MissingProgramIs127AndUnrunnableOneIs126) {
  const LaunchResult missing = Launch({"/no/such/program"}, {});
  EXPECT_EQ(missing.status, 127);
  EXPECT_THAT(missing.problem, HasSubstr("No such file"));
  const LaunchResult folder = Launch({"/"}, {});
  EXPECT_EQ(folder.status, 126);
  EXPECT_THAT(folder.problem, HasSubstr("'/'"));
}

TEST(Launch, VariablesReachTheProgramAndNotUs) {
  const LaunchResult result =
      Launch({"sh", "-c", "test \"$LAUNCH_TEST\" = 'a b'"}, {{"LAUNCH_TEST", "a b"}});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(getenv("LAUNCH_TEST"), nullptr);
}

TEST(Launch, TerminateIsPassedOn) {
  // The program asks its parent, us, to end; only a signal passed on ends the program.
  const LaunchResult result = Shell(
      "trap 'exit 9' TERM; kill -TERM $PPID; i=0; while [ $i -lt 200 ]; do sleep 0.05; i=$((i+1)); "
      "done");
  EXPECT_EQ(result.status, 9);
}

TEST(Launch, InterruptIsLeftToTheProgram) {
  EXPECT_EQ(Shell("kill -INT $PPID; kill -QUIT $PPID; exit 4").status, 4);
}

TEST(Launch, ProgramFindsTheSignalsAsWeFoundThem) {
  // SigIgn, SigBlk of a program that was launched equal our own.
  std::ifstream status("/proc/self/status");
  std::string line, own;
  while (std::getline(status, line)) {
    if (line.starts_with("SigIgn") || line.starts_with("SigBlk")) own += line + "\n";
  }
  const std::string path = ::testing::TempDir() + "launch_test_signals";
  ASSERT_EQ(
      Launch({"sh", "-c", "grep -E 'SigIgn|SigBlk' /proc/self/status > \"$0\"", path}, {}).status,
      0);
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), own);
}

TEST(PreloadValue, AgentComesFirstAndOnlyOnce) {
  EXPECT_EQ(PreloadValue("/a.so", ""), "/a.so");
  EXPECT_EQ(PreloadValue("/a.so", "/b.so"), "/a.so:/b.so");
  EXPECT_EQ(PreloadValue("/a.so", "/a.so"), "/a.so");
  EXPECT_EQ(PreloadValue("/a.so", "/a.so:/b.so"), "/a.so:/b.so");
}

TEST(FindAgentLibrary, EnvironmentWinsAndBadPathsAreExplained) {
  std::string problem;
  setenv("MEMAGENT_LIBRARY", "/proc/self/exe", 1);
  EXPECT_EQ(FindAgentLibrary(problem), "/proc/self/exe");
  setenv("MEMAGENT_LIBRARY", "/no/such/lib.so", 1);
  EXPECT_EQ(FindAgentLibrary(problem), "");
  EXPECT_THAT(problem, HasSubstr("MEMAGENT_LIBRARY"));
  const std::string spaced = ::testing::TempDir() + "a b.so";
  std::ofstream(spaced) << "x";
  setenv("MEMAGENT_LIBRARY", spaced.c_str(), 1);
  EXPECT_EQ(FindAgentLibrary(problem), "");
  EXPECT_THAT(problem, HasSubstr("space"));
  unsetenv("MEMAGENT_LIBRARY");
}

}  // namespace
}  // namespace memagent::inject
