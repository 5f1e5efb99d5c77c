#include "agent/base/options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace memagent::base {
namespace {

std::vector<std::string> Parse(std::string_view text, Options& options) {
  std::vector<std::string> warnings;
  ParseOptions(
      text, options,
      [](void* context, std::string_view pair, std::string_view reason) {
        static_cast<std::vector<std::string>*>(context)->push_back(std::string(pair) + ": " +
                                                                   std::string(reason));
      },
      &warnings);
  return warnings;
}

TEST(Options, EmptyTextKeepsDefaults) {
  Options options;
  EXPECT_TRUE(Parse("", options).empty());
  EXPECT_EQ(options.output.view(), "%e.%p.memagent");
  EXPECT_EQ(options.rate, 1000u);
  EXPECT_FALSE(options.verbose);
}

TEST(Options, GoodPairsAreApplied) {
  Options options;
  EXPECT_TRUE(Parse("output=/tmp/a b.memagent,engine=software,rate=4000,verbose=1", options).empty());
  EXPECT_EQ(options.output.view(), "/tmp/a b.memagent");
  EXPECT_EQ(options.engine.view(), "software");
  EXPECT_EQ(options.rate, 4000u);
  EXPECT_TRUE(options.verbose);
}

TEST(Options, EscapedCommaStaysInTheValue) {
  Options options;
  EXPECT_TRUE(Parse("output=a\\,b,rate=5", options).empty());
  EXPECT_EQ(options.output.view(), "a,b");
  EXPECT_EQ(options.rate, 5u);
}

TEST(Options, BadPairsWarnAndKeepTheDefault) {
  Options options;
  const auto warnings = Parse("rate=fast,engine=magic,colour=red,verbose=2,lonely", options);
  ASSERT_EQ(warnings.size(), 5u);
  EXPECT_EQ(warnings[0], "rate=fast: the value must be a decimal number");
  EXPECT_EQ(warnings[1],
            "engine=magic: the value must be one of auto|ibs|pebs|spe|profileme|software|none");
  EXPECT_EQ(warnings[2], "colour=red: there is no such option");
  EXPECT_EQ(options.rate, 1000u);
  EXPECT_EQ(options.engine.view(), "auto");
}

TEST(Options, OverlongValueWarnsInsteadOfOverflowing) {
  Options options;
  const auto warnings = Parse("output=" + std::string(5000, 'x'), options);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(options.output.view(), "%e.%p.memagent");
}

}  // namespace
}  // namespace memagent::base
