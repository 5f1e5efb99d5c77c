#include "inject/capabilities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace memagent::inject {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

EngineFinding Ibs() {
  EngineFinding engine;
  engine.name = "ibs";
  engine.detail = "ibs_op/cnt_ctl=1/: EACCES: it needs a right.";
  engine.remedy = "Give it.";
  EventFinding event;
  event.event = "ibs_op/cnt_ctl=1/";
  event.refused = {{"ibs_op/cnt_ctl=1/", "type=11", 13, "EACCES: it needs a right.", "Give it."},
                   {"ibs_op//", "type=11", 22, "EINVAL: too old.", "Use a newer one."},
                   {"ibs_op//", "type=11", 22, "EINVAL: too old.", "Use a newer one."}};
  engine.events = {event};
  return engine;
}

EngineFinding Software() {
  EngineFinding engine;
  engine.name = "software";
  engine.usable = engine.chosen = true;
  engine.detail = "software/cpu-clock opens.";
  engine.period = 1'000'000;
  engine.period_unit = "ns";
  EventFinding event;
  event.opens = true;
  event.event = "software/cpu-clock";
  event.attr = "type=1 config=0x0";
  event.gives = {"instruction"};
  event.lacks = "Much.";
  event.ran = "yes";
  engine.events = {event};
  return engine;
}

Capabilities SoftwareOnly() {
  Capabilities capabilities;
  capabilities.cpu = "A CPU";
  capabilities.engine = "software";
  capabilities.nodes = {{0, "0-1", uint64_t{8} << 30}};
  capabilities.pmus = {{"software", false, ""}, {"ibs_op", true, "0-7"}};
  capabilities.system_calls = {{"mbind", "placing memory", true, "allowed", ""},
                               {"move_pages", "nodes", false, "refused (EPERM)", "Allow it."}};
  capabilities.budgets = ComputeBudgets({.descriptor_limit = 1024,
                                         .memlock_limit_bytes = 8 << 20,
                                         .mlock_kib = 516,
                                         .online_cpus = 2});
  capabilities.engines = {Ibs(), Software()};
  return capabilities;
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(CapabilitiesExitStatus, TellsHardwareSoftwareAndNothingApart) {
  Capabilities capabilities = SoftwareOnly();
  EXPECT_EQ(CapabilitiesExitStatus(capabilities), 1);
  capabilities.engine_is_hardware = true;
  EXPECT_EQ(CapabilitiesExitStatus(capabilities), 0);
  EXPECT_EQ(CapabilitiesExitStatus(Capabilities()), 3);
}

TEST(CapabilitiesText, RefusalComesOnceWithItsRemedy) {
  const std::string text = CapabilitiesText(SoftwareOnly());
  EXPECT_THAT(text, HasSubstr("ibs           no   ibs_op/cnt_ctl=1/: EACCES: it needs a right.\n"));
  EXPECT_EQ(Count(text, "Give it."), 1u);
  EXPECT_EQ(Count(text, "EINVAL: too old."), 1u);
  EXPECT_THAT(text, HasSubstr("Verdict: engine=auto uses the software engine"));
}

TEST(CapabilitiesText, ChosenEngineHasItsAttr) {
  const std::string text = CapabilitiesText(SoftwareOnly());
  EXPECT_THAT(text, HasSubstr("software/cpu-clock opens. engine=auto uses it."));
  EXPECT_THAT(text, HasSubstr("attr type=1 config=0x0"));
  EXPECT_THAT(text, HasSubstr("gives instruction"));
  EXPECT_THAT(text, HasSubstr("lacks: Much."));
  EXPECT_THAT(text, Not(HasSubstr("never ran")));
  EXPECT_THAT(text, HasSubstr("period 1000000 ns"));
}

TEST(CapabilitiesText, RightsAndBudgetsAreTold) {
  Capabilities capabilities = SoftwareOnly();
  std::string text = CapabilitiesText(capabilities);
  EXPECT_THAT(text, HasSubstr("allowed: mbind\n"));
  EXPECT_THAT(text, HasSubstr("move_pages: refused (EPERM); for nodes. Allow it."));
  EXPECT_THAT(text, HasSubstr("limit 1024, 3 for each thread: enough for 336 threads"));
  EXPECT_THAT(text, HasSubstr("enough for 69 threads"));
  EXPECT_THAT(text, HasSubstr("that sample accesses: ibs_op (CPUs 0-7); others: software"));
  EXPECT_THAT(text, HasSubstr("NUMA balancing not known"));
  capabilities.rights.perfmon = capabilities.rights.user_namespace = true;
  capabilities.rights.container = "podman";
  capabilities.rights.seccomp = true;
  capabilities.budgets.lockable_bytes = kUnlimited;
  text = CapabilitiesText(capabilities);
  EXPECT_THAT(text, HasSubstr("CAP_PERFMON, of a user namespace"));
  EXPECT_THAT(text, HasSubstr("podman, with a seccomp filter"));
  EXPECT_THAT(text, HasSubstr("no limit: rings for any number"));
}

TEST(CapabilitiesText, OneNodeSaysThatRemoteAccessCannotOccur) {
  Capabilities capabilities = SoftwareOnly();
  EXPECT_THAT(CapabilitiesText(capabilities), HasSubstr("cannot occur"));
  capabilities.nodes.push_back({1, "", 0});
  capabilities.distances = {10, 20, 21, 10};
  const std::string text = CapabilitiesText(capabilities);
  EXPECT_THAT(text, Not(HasSubstr("cannot occur")));
  EXPECT_THAT(text, HasSubstr("node 1 (CPUs none, 0 MiB)"));
  EXPECT_THAT(text, HasSubstr("distances     from node 0: 10 20\n"));
  EXPECT_THAT(text, HasSubstr("from node 1: 21 10\n"));
}

TEST(CapabilitiesText, StaysWithinEightyColumns) {
  Capabilities capabilities = SoftwareOnly();
  std::string sentence;
  for (int i = 0; i < 60; ++i) sentence += "word ";
  capabilities.engines[0].detail = capabilities.cpu = sentence;
  capabilities.engines[0].events[0].refused[0].cause = sentence;
  const std::string text = CapabilitiesText(capabilities);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 80u);
    begin = end + 1;
  }
}

TEST(CapabilitiesJson, IsOneObjectWithEveryFinding) {
  Capabilities capabilities = SoftwareOnly();
  capabilities.distances = {10};
  const auto json = nlohmann::json::parse(CapabilitiesJson(capabilities));
  EXPECT_EQ(json["engine"], "software");
  EXPECT_EQ(json["engines"].size(), 2u);
  EXPECT_EQ(json["engines"][0]["remedy"], "Give it.");
  EXPECT_EQ(json["engines"][0]["events"][0]["refused"][0]["errno"], 13);
  EXPECT_EQ(json["engines"][1]["events"][0]["attr"], "type=1 config=0x0");
  EXPECT_EQ(json["engines"][1]["chosen"], true);
  EXPECT_EQ(json["nodes"][0]["cpus"], "0-1");
  EXPECT_EQ(json["distances"][0], 10);
  EXPECT_EQ(json["pmus"][1]["name"], "ibs_op");
  EXPECT_EQ(json["system_calls"][1]["verdict"], "refused (EPERM)");
  EXPECT_EQ(json["rights"]["container"], "");
  EXPECT_EQ(json["budgets"]["ring_bytes"], 33 * 4096);
  capabilities.budgets.ring_threads = kUnlimited;
  EXPECT_TRUE(
      nlohmann::json::parse(CapabilitiesJson(capabilities))["budgets"]["ring_threads"].is_null());
}

TEST(ProbeCapabilities, OnThisMachineEveryRefusalHasAReason) {
  const Capabilities capabilities = ProbeCapabilities();
  EXPECT_EQ(capabilities.engines.size(), 4u);
  EXPECT_EQ(capabilities.engines.back().name, "software");
  EXPECT_EQ(capabilities.features.size(), 4u);
  EXPECT_EQ(capabilities.system_calls.size(), 8u);
  EXPECT_FALSE(capabilities.nodes.empty());
  EXPECT_EQ(capabilities.distances.size() % capabilities.nodes.size(), 0u);
  EXPECT_GE(capabilities.budgets.descriptors_per_thread, 2u);
  for (const EngineFinding& engine : capabilities.engines) {
    EXPECT_NE(engine.detail, "") << engine.name;
    EXPECT_TRUE(engine.usable || !engine.remedy.empty()) << engine.name;
    EXPECT_EQ(engine.chosen, engine.name == capabilities.engine);
  }
  for (const Finding& finding : capabilities.features) {
    EXPECT_NE(finding.detail, "") << finding.name;
    EXPECT_TRUE(finding.usable || !finding.remedy.empty()) << finding.name;
  }
}

}  // namespace
}  // namespace memagent::inject
