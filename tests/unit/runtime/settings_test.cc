#include "agent/runtime/settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "agent/capture/placement.h"

namespace memagent::runtime {
namespace {

class SettingsTest : public testing::Test {
 protected:
  void SetUp() override { Clear(); }
  void TearDown() override { Clear(); }

  static void Clear() {
    for (const char* name : {"MEMAGENT", "MEMAGENT_OPTIONS", "MEMAGENT_RUN_REPORT"}) unsetenv(name);
  }
  static std::unique_ptr<Settings> Read() {
    auto settings = std::make_unique<Settings>();
    ReadSettings(*settings);
    return settings;
  }
};

TEST_F(SettingsTest, EmptyEnvironmentGivesTheDefaults) {
  const auto settings = Read();
  EXPECT_EQ(settings->mode, Mode::kOn);
  EXPECT_EQ(settings->problem_count, 0u);
  EXPECT_EQ(settings->options.rate, 1000u);
  EXPECT_EQ(settings->effective.view(), "");
}

TEST_F(SettingsTest, OptionsAreReadAndKeptAsGiven) {
  setenv("MEMAGENT_OPTIONS", "rate=50,output=a.memagent", 1);
  setenv("MEMAGENT_RUN_REPORT", "/tmp/report", 1);
  setenv("MEMAGENT_OPTIONSX", "rate=9", 1);
  const auto settings = Read();
  unsetenv("MEMAGENT_OPTIONSX");
  EXPECT_EQ(settings->options.rate, 50u);
  EXPECT_EQ(settings->options.output.view(), "a.memagent");
  EXPECT_EQ(settings->effective.view(), "rate=50,output=a.memagent");
  EXPECT_EQ(settings->run_report.view(), "/tmp/report");
}

TEST_F(SettingsTest, OffAndZeroSwitchOff) {
  for (const char* value : {"off", "0"}) {
    setenv("MEMAGENT", value, 1);
    EXPECT_EQ(Read()->mode, Mode::kOff) << value;
  }
  for (const char* value : {"on", "1", "", "offline"}) {
    setenv("MEMAGENT", value, 1);
    EXPECT_EQ(Read()->mode, Mode::kOn) << value;
  }
}

TEST_F(SettingsTest, UnknownOptionIsOneSentenceAndTheRestHolds) {
  setenv("MEMAGENT_OPTIONS", "colour=red,rate=7", 1);
  const auto settings = Read();
  ASSERT_EQ(settings->problem_count, 1u);
  const std::string_view problem = settings->problems[0].text;
  EXPECT_TRUE(problem.starts_with("option \"colour=red\" was ignored: ")) << problem;
  EXPECT_TRUE(problem.ends_with(".")) << problem;
  EXPECT_EQ(settings->options.rate, 7u);
}

TEST_F(SettingsTest, NumbersOutOfRangeAreBroughtIntoItAndSaid) {
  setenv("MEMAGENT_OPTIONS", "ring_pages=0,drain_interval=0,raw_samples=999999999999", 1);
  auto settings = Read();
  EXPECT_EQ(settings->options.ring_pages, 1u);
  EXPECT_EQ(settings->options.drain_interval, 1u);
  EXPECT_EQ(settings->options.raw_samples, 1000000u);
  EXPECT_EQ(settings->problem_count, 3u);
  setenv("MEMAGENT_OPTIONS", "ring_pages=48", 1);
  settings = Read();
  EXPECT_EQ(settings->options.ring_pages, 32u);
  EXPECT_STREQ(settings->problems[0].text,
               "option \"ring_pages\" was changed: the next smaller power of two is used.");
}

TEST_F(SettingsTest, UnderRulesNoBlockThatTheyCanPlaceIsLeftOut) {
  setenv("MEMAGENT_OPTIONS", "sample_bytes=65536,place=/no/such/file", 1);
  EXPECT_EQ(Read()->options.sample_bytes, 65536u);
  const std::string path = testing::TempDir() + "settings_test.rules";
  std::ofstream(path) << "a\tb\tlocal\tany\taa:1-2\n";
  setenv("MEMAGENT_OPTIONS", ("sample_bytes=65536,place=" + path).c_str(), 1);
  const auto settings = Read();
  unlink(path.c_str());
  capture::SetPlacementRules({});
  EXPECT_EQ(settings->options.sample_bytes, 16384u);
  ASSERT_EQ(settings->problem_count, 1u);
  EXPECT_NE(std::string_view(settings->problems[0].text).find("sample_bytes"),
            std::string_view::npos);
}

TEST_F(SettingsTest, MissingOutputFolderIsOneSentence) {
  base::Options options;
  EXPECT_EQ(OutputFolderProblem(options), "");  // the working folder
  base::SetOption(options, "output", "/no/such/folder/%e.memagent");
  EXPECT_TRUE(OutputFolderProblem(options).ends_with(
      "its folder does not exist; create it, or name another place with output=."))
      << OutputFolderProblem(options);
  base::SetOption(options, "output", "/no/%h/x.memagent");  // known only in the process
  EXPECT_EQ(OutputFolderProblem(options), "");
}

TEST_F(SettingsTest, ManyAndLongProblemsStayWithinTheirRoom) {
  std::string text;
  for (int i = 0; i < 20; ++i) text.append(std::string(300, 'x')).append("=1,");
  setenv("MEMAGENT_OPTIONS", text.c_str(), 1);
  const auto settings = Read();
  EXPECT_LE(settings->problem_count, std::size(settings->problems));
  EXPECT_GT(settings->problem_count, 0u);
  for (size_t i = 0; i < settings->problem_count; ++i) {
    EXPECT_LT(std::string_view(settings->problems[i].text).size(), sizeof(OptionProblem::text));
  }
}

TEST_F(SettingsTest, ChildOfAProgramWithoutTheAgentIsFollowed) {
  setenv("MEMAGENT_OPTIONS", "follow=no", 1);
  EXPECT_EQ(Read()->mode, Mode::kOn);
}

TEST_F(SettingsTest, EnvironmentNotSetUpYetIsReadFromTheKernel) {
  char** saved = environ;
  environ = nullptr;
  const auto settings = Read();
  environ = saved;
  EXPECT_EQ(settings->mode, Mode::kOn);
}

}  // namespace
}  // namespace memagent::runtime
