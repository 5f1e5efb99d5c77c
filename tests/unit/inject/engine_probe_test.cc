#include "inject/engine_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/machines.h"

namespace memagent::inject {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const EngineFinding& Named(const std::vector<EngineFinding>& engines, const std::string& name) {
  for (const EngineFinding& engine : engines) {
    if (engine.name == name) return engine;
  }
  static const EngineFinding none;
  return none;
}

// The facts say that the PMU is there; this machine's kernel does not know its type.
TEST(EngineProbe, WhatSysfsPromisesAndTheKernelRefusesIsExplained) {
  for (const testing::Machine& machine : testing::AllMachines()) {
    if (machine.name != "zen4_6.12") continue;
    capture::EngineFacts facts = testing::FactsOf(machine);
    facts.pmus.pmus.back().type = 4'000'000'000;
    const auto engines = ProbeEngines(facts, capture::SelectEvents(facts, {}));
    const EngineFinding& ibs = Named(engines, "ibs");
    EXPECT_FALSE(ibs.usable || ibs.chosen);
    ASSERT_EQ(ibs.events.size(), 1u);
    EXPECT_FALSE(ibs.events[0].refused.empty());
    EXPECT_EQ(ibs.detail,
              ibs.events[0].refused.back().event + ": " + ibs.events[0].refused.back().cause);
    EXPECT_NE(ibs.remedy, "");
    EXPECT_EQ(ibs.period, 640'000u);
  }
}

TEST(EngineProbe, EnginesAreInTheOrderOfTheirTurn) {
  capture::EngineFacts facts;
  const auto engines = ProbeEngines(facts, capture::SelectEvents(facts, {}));
  ASSERT_EQ(engines.size(), 4u);
  EXPECT_EQ(engines[0].name, "ibs");
  EXPECT_EQ(engines[3].name, "software");
}

TEST(EngineProbe, SoftwareEventRunsHere) {
  capture::EngineFacts facts;
  const auto engines = ProbeEngines(facts, capture::SelectEvents(facts, {}));
  const EngineFinding& software = Named(engines, "software");
  if (!software.usable) GTEST_SKIP() << software.detail;
  EXPECT_TRUE(software.chosen);
  EXPECT_EQ(software.events.at(0).ran, "yes");
  EXPECT_THAT(software.events[0].attr, HasSubstr("sample_period=1000000"));
}

TEST(GivenBy, NamesWhatARecordHas) {
  capture::EventAttempt attempt;
  attempt.attr.sample_type =
      PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_RAW;
  EXPECT_THAT(GivenBy(EngineKind::kIbs, attempt), Contains("latency"));
  EXPECT_THAT(GivenBy(EngineKind::kIbs, attempt), Contains("width and TLB details"));
  EXPECT_THAT(GivenBy(EngineKind::kIbs, attempt), Not(Contains("physical address")));
  EXPECT_THAT(GivenBy(EngineKind::kSoftware, capture::EventAttempt()), Not(Contains("latency")));
  attempt.attr.config = 2;
  EXPECT_THAT(GivenBy(EngineKind::kSpe, attempt), Contains("physical address"));
}

}  // namespace
}  // namespace memagent::inject
