#include "viewer/strip_text.h"

#include <gtest/gtest.h>

#include <string>

#include "viewer/site_use.h"

namespace memagent::viewer {
namespace {

SiteView SiteOfTwoHalves() {
  SiteView site;
  site.allocations = 1;
  site.bytes_peak = uint64_t{64} << 20;
  for (uint32_t i = 0; i < kStripParts; ++i) {
    site.strip.push_back({i, i < kStripParts / 2 ? 0 : 1, 0, 10});
  }
  return site;
}

TEST(StripLines, UsersAndHomesStandAboveTheLegend) {
  const auto lines = StripLines(SiteOfTwoHalves(), {});
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].label, "used by");
  EXPECT_EQ(lines[1].label, "lives on");
  EXPECT_EQ(lines[2].text.find("left out"), std::string::npos);
  EXPECT_TRUE(StripLines(SiteView(), {}).empty());
}

TEST(StripLines, SamplesThatAreLeftOutAreTold) {
  SiteView site = SiteOfTwoHalves();
  site.strip_samples_left_out = 1234;
  const auto lines = StripLines(site, {});
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[2].text.find("(1,234 samples of too many pairs of nodes are left out)"),
            std::string::npos)
      << lines[2].text;
}

}  // namespace
}  // namespace memagent::viewer
