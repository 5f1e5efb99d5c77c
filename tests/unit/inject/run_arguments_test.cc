#include "inject/run_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/base/options.h"

namespace memagent::inject {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RunArguments, CommandAfterDashesKeepsItsOwnFlags) {
  const RunArguments arguments = ParseRunArguments({"-o", "x", "--", "./app", "-o", "3"});
  EXPECT_EQ(arguments.problem, "");
  EXPECT_EQ(arguments.options, "output=x");
  EXPECT_THAT(arguments.command, ElementsAre("./app", "-o", "3"));
}

TEST(RunArguments, CommandWithoutDashesStartsAtFirstWord) {
  const RunArguments arguments =
      ParseRunArguments({"--rate", "4000", "./app", "-o", "3", "--rate", "1"});
  EXPECT_EQ(arguments.problem, "");
  EXPECT_EQ(arguments.options, "rate=4000");
  EXPECT_THAT(arguments.command, ElementsAre("./app", "-o", "3", "--rate", "1"));
}

TEST(RunArguments, DashesBehindTheCommandBelongToIt) {
  EXPECT_THAT(ParseRunArguments({"git", "log", "--", "file"}).command,
              ElementsAre("git", "log", "--", "file"));
  EXPECT_THAT(ParseRunArguments({"--", "git", "log", "--", "file"}).command,
              ElementsAre("git", "log", "--", "file"));
}

TEST(RunArguments, UnderscoreAndDashNameTheSameOption) {
  EXPECT_EQ(ParseRunArguments({"--fault_period=3", "app"}).options, "fault_period=3");
  EXPECT_EQ(ParseRunArguments({"--fault-period", "3", "app"}).options, "fault_period=3");
}

TEST(RunArguments, FlagAloneMeansOneAndDoesNotSwallowTheCommand) {
  const RunArguments arguments = ParseRunArguments({"--verbose", "./app"});
  EXPECT_EQ(arguments.options, "verbose=1");
  EXPECT_THAT(arguments.command, ElementsAre("./app"));
  EXPECT_EQ(ParseRunArguments({"--verbose=0", "./app"}).options, "verbose=0");
}

TEST(RunArguments, CommaInAPatternIsEscapedForTheAgent) {
  const RunArguments arguments = ParseRunArguments({"-o", "a,b", "app"});
  EXPECT_EQ(arguments.options, "output=a\\,b");
  base::Options options;
  base::ParseOptions(arguments.options, options, nullptr, nullptr);
  EXPECT_EQ(options.output.view(), "a,b");
}

TEST(RunArguments, BadInputIsOneSentence) {
  EXPECT_THAT(ParseRunArguments({"--frobnicate", "app"}).problem, HasSubstr("--frobnicate"));
  EXPECT_THAT(ParseRunArguments({"--rate=many", "app"}).problem, HasSubstr("decimal number"));
  EXPECT_THAT(ParseRunArguments({"--engine", "steam", "app"}).problem, HasSubstr("auto|ibs"));
  EXPECT_THAT(ParseRunArguments({}).problem, HasSubstr("no command"));
  EXPECT_THAT(ParseRunArguments({"--rate", "5", "--"}).problem, HasSubstr("no command"));
  EXPECT_NE(ParseRunArguments({"--rate"}).problem, "");
}

TEST(RunArguments, PlacementsAreKeptInTheirOrderAndAreNoOptionsOfTheAgent) {
  const RunArguments arguments = ParseRunArguments({"--place", "S1@a=local", "--place=fn:f=bind:0",
                                                    "--place-from", "b", "./app", "--place", "c"});
  EXPECT_EQ(arguments.problem, "");
  EXPECT_THAT(arguments.place, ElementsAre("S1@a=local", "fn:f=bind:0"));
  EXPECT_EQ(arguments.place_from, "b");
  EXPECT_EQ(arguments.options, "");
  EXPECT_THAT(arguments.command, ElementsAre("./app", "--place", "c"));
}

TEST(RunArguments, HelpNamesEveryOptionWithinAHundredColumns) {
  const std::string help = RunHelp();
  for (const base::OptionInfo& option : base::OptionTable()) {
    EXPECT_THAT(help, HasSubstr("--" + std::string(option.name)));
  }
  for (size_t begin = 0; begin < help.size();) {
    const size_t end = help.find('\n', begin);
    EXPECT_LE(end - begin, 100u) << help.substr(begin, end - begin);
    begin = end + 1;
  }
  EXPECT_TRUE(ParseRunArguments({"--help"}).help);
  EXPECT_THAT(ParseRunArguments({"app", "--help"}).command, ElementsAre("app", "--help"));
}

TEST(MergeOptions, FlagsFollowTheEnvironmentSoThatTheyWin) {
  EXPECT_EQ(MergeOptions("", "rate=1"), "rate=1");
  EXPECT_EQ(MergeOptions("rate=2", ""), "rate=2");
  EXPECT_EQ(MergeOptions("rate=2", "rate=1"), "rate=2,rate=1");
  EXPECT_THAT(MergeOptions("", ""), IsEmpty());
}

}  // namespace
}  // namespace memagent::inject
