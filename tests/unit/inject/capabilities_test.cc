#include "inject/capabilities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace memagent::inject {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Capabilities SoftwareOnly() {
  Capabilities capabilities;
  capabilities.cpu = "A CPU";
  capabilities.engine = "software";
  capabilities.nodes = {{0, "0-1", uint64_t{8} << 30}};
  capabilities.engines = {{"ibs", false, "sysfs has no ibs_op PMU.", "Run on bare metal."},
                          {"software", true, "software/cpu-clock opens.", ""}};
  return capabilities;
}

TEST(CapabilitiesExitStatus, TellsHardwareSoftwareAndNothingApart) {
  Capabilities capabilities = SoftwareOnly();
  EXPECT_EQ(CapabilitiesExitStatus(capabilities), 1);
  capabilities.engine_is_hardware = true;
  EXPECT_EQ(CapabilitiesExitStatus(capabilities), 0);
  EXPECT_EQ(CapabilitiesExitStatus(Capabilities()), 3);
}

TEST(CapabilitiesText, RefusalComesWithItsRemedy) {
  const std::string text = CapabilitiesText(SoftwareOnly());
  EXPECT_THAT(text, HasSubstr("ibs               no   sysfs has no ibs_op PMU.\n"));
  EXPECT_THAT(text, HasSubstr("Run on bare metal.\n"));
  EXPECT_THAT(text, HasSubstr("Verdict: engine=auto uses the software engine"));
}

TEST(CapabilitiesText, OneNodeSaysThatRemoteAccessCannotOccur) {
  Capabilities capabilities = SoftwareOnly();
  EXPECT_THAT(CapabilitiesText(capabilities), HasSubstr("cannot occur"));
  capabilities.nodes.push_back({1, "", 0});
  EXPECT_THAT(CapabilitiesText(capabilities), Not(HasSubstr("cannot occur")));
  EXPECT_THAT(CapabilitiesText(capabilities), HasSubstr("node 1 (CPUs none, 0 MiB)"));
}

TEST(CapabilitiesText, StaysWithinAHundredColumns) {
  Capabilities capabilities = SoftwareOnly();
  std::string sentence;
  for (int i = 0; i < 60; ++i) sentence += "word ";
  capabilities.engines[0].detail = sentence;
  const std::string text = CapabilitiesText(capabilities);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 100u);
    begin = end + 1;
  }
}

TEST(CapabilitiesJson, IsOneObjectWithEveryFinding) {
  const auto json = nlohmann::json::parse(CapabilitiesJson(SoftwareOnly()));
  EXPECT_EQ(json["engine"], "software");
  EXPECT_EQ(json["engines"].size(), 2u);
  EXPECT_EQ(json["engines"][0]["remedy"], "Run on bare metal.");
  EXPECT_EQ(json["nodes"][0]["cpus"], "0-1");
}

TEST(ProbeCapabilities, OnThisMachineEveryRefusalHasAReason) {
  const Capabilities capabilities = ProbeCapabilities();
  EXPECT_EQ(capabilities.engines.size(), 4u);
  EXPECT_EQ(capabilities.features.size(), 4u);
  EXPECT_FALSE(capabilities.nodes.empty());
  for (const auto* findings : {&capabilities.engines, &capabilities.features}) {
    for (const Finding& finding : *findings) {
      EXPECT_NE(finding.detail, "") << finding.name;
      EXPECT_TRUE(finding.usable || !finding.remedy.empty()) << finding.name;
    }
  }
}

}  // namespace
}  // namespace memagent::inject
