#include "agent/os/pmu.h"

#include <gtest/gtest.h>

#include <string>

#include "agent/os/perf_event.h"
#include "tests/support/temp_tree.h"

namespace memagent::os {
namespace {

using testing::TempTree;

TEST(ParsePmuBits, WordAndRangesAreRead) {
  const auto ranges = ParsePmuBits("config:0-7,32-35");
  ASSERT_TRUE(ranges && ranges->size() == 2);
  EXPECT_EQ((*ranges)[1].word, 0);
  EXPECT_EQ((*ranges)[1].first, 32);
  EXPECT_EQ((*ranges)[1].last, 35);
  const auto one = ParsePmuBits("config4:63");
  ASSERT_TRUE(one && one->size() == 1);
  EXPECT_EQ((*one)[0].word, 4);
  EXPECT_EQ((*one)[0].first, 63);
  EXPECT_EQ((*one)[0].last, 63);
}

TEST(ParsePmuBits, AnythingElseIsRefused) {
  for (const char* text :
       {"", "config", "config:", "config:x", "config:3-1", "config:0-64", "config5:0", "config1x:0",
        "event:0-7", "config:1-2-3", "config:1,", "config:,1", "config:-1", "config: 1"}) {
    EXPECT_FALSE(ParsePmuBits(text)) << text;
  }
}

TEST(ParsePmuTerms, ValuesAreDecimalHexadecimalOrOne) {
  const auto terms = ParsePmuTerms("event=0xcd,umask=1,ldlat=3,edge");
  ASSERT_TRUE(terms && terms->size() == 4);
  EXPECT_EQ((*terms)[0].name, "event");
  EXPECT_EQ((*terms)[0].value, 0xcdu);
  EXPECT_EQ((*terms)[2].value, 3u);
  EXPECT_EQ((*terms)[3].name, "edge");
  EXPECT_EQ((*terms)[3].value, 1u);
}

TEST(ParsePmuTerms, AnythingElseIsRefused) {
  for (const char* text : {"", ",", "event=", "event=?", "=1", "event=0x", "event=1,,umask=1",
                           "event=1,", "event=0x1ffffffffffffffff"}) {
    EXPECT_FALSE(ParsePmuTerms(text)) << text;
  }
}

Pmu AmdCpu() {
  Pmu pmu;
  pmu.fields = {{"event", *ParsePmuBits("config:0-7,32-35")},
                {"ldlat", *ParsePmuBits("config1:0-15")},
                {"whole", *ParsePmuBits("config2:0-63")},
                {"late", *ParsePmuBits("config3:0-3")}};
  pmu.events = {{"good", *ParsePmuTerms("event=0x1cd,ldlat=30")},
                {"bad", *ParsePmuTerms("ldlat=1,missing=1")}};
  return pmu;
}

TEST(SetPmuField, ValueIsSpreadOverTheRanges) {
  perf_event_attr attr = NewPerfAttr(0, ~uint64_t{0});
  EXPECT_TRUE(SetPmuField(AmdCpu(), "event", 0xa5b, attr));
  EXPECT_EQ(attr.config, 0xffff'fffa'ffff'ff5bu);
  EXPECT_TRUE(SetPmuField(AmdCpu(), "whole", ~uint64_t{0}, attr));
  EXPECT_EQ(attr.config2, ~uint64_t{0});
}

TEST(SetPmuField, WhatDoesNotFitChangesNothing) {
  perf_event_attr attr = NewPerfAttr(0, 7);
  EXPECT_FALSE(SetPmuField(AmdCpu(), "event", 0x1000, attr)) << "13 bits into 12";
  EXPECT_FALSE(SetPmuField(AmdCpu(), "missing", 1, attr));
  EXPECT_FALSE(SetPmuField(AmdCpu(), "late", 1, attr)) << "this build's attr ends before config3";
  EXPECT_EQ(attr.config, 7u);
}

TEST(SetPmuEvent, AllTermsOrNone) {
  perf_event_attr attr = NewPerfAttr(0, 0);
  EXPECT_FALSE(SetPmuEvent(AmdCpu(), "bad", attr));
  EXPECT_FALSE(SetPmuEvent(AmdCpu(), "missing", attr));
  EXPECT_EQ(attr.config1, 0u);
  EXPECT_TRUE(SetPmuEvent(AmdCpu(), "good", attr));
  EXPECT_EQ(attr.config, 0x1'0000'00cdu);
  EXPECT_EQ(attr.config1, 30u);
}

TEST(ReadPmuFacts, NoSysfsIsTold) {
  TempTree tree;
  EXPECT_FALSE(ReadPmuFacts(tree.root()).sysfs);
}

TEST(ReadPmuFacts, WhatSamplesAccessesIsReadWhole) {
  TempTree tree;
  const std::string devices = "bus/event_source/devices/";
  tree.Write(devices + "software/type", "1\n");
  tree.Write(devices + "ibs_op/type", "9\n");
  tree.Write(devices + "ibs_op/format/cnt_ctl", "config:19\n");
  tree.Write(devices + "ibs_op/format/broken", "nonsense\n");
  tree.Write(devices + "ibs_op/caps/zen4_ibs_extensions", "1\n");
  tree.Write(devices + "cpu_core/type", "4\n");
  tree.Write(devices + "cpu_core/cpus", "0-7\n");
  tree.Write(devices + "cpu_core/format/event", "config:0-7\n");
  tree.Write(devices + "cpu_core/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
  tree.Write(devices + "cpu_core/caps/max_precise", "3\n");
  tree.Write(devices + "arm_spe_1/type", "8\n");
  tree.Write(devices + "arm_spe_1/cpumask", "4-5\n");
  tree.Write(devices + "arm_spe_1/caps/event_filter", "0x2a\n");
  tree.Write(devices + "cpu_atom/type", "no number\n");
  const PmuFacts facts = ReadPmuFacts(tree.root());
  EXPECT_TRUE(facts.sysfs);
  EXPECT_EQ(facts.names.size(), 5u);
  ASSERT_EQ(facts.pmus.size(), 3u) << "software samples no accesses, cpu_atom has no type";
  const Pmu* ibs = facts.Find("ibs_op");
  ASSERT_NE(ibs, nullptr);
  EXPECT_EQ(ibs->type, 9u);
  EXPECT_NE(ibs->FindField("cnt_ctl"), nullptr);
  EXPECT_EQ(ibs->FindField("swfilt"), nullptr);
  EXPECT_EQ(ibs->CapNumber("zen4_ibs_extensions"), 1u);
  EXPECT_EQ(ibs->CapNumber("ldlat"), std::nullopt);
  const Pmu* core = facts.Find("cpu_core");
  ASSERT_NE(core, nullptr);
  EXPECT_EQ(core->cpus, "0-7");
  ASSERT_NE(core->FindEvent("mem-loads"), nullptr);
  EXPECT_EQ(core->FindEvent("mem-loads-aux"), nullptr);
  EXPECT_EQ(facts.Find("arm_spe_1")->cpus, "4-5");
  EXPECT_EQ(facts.Find("arm_spe_1")->CapNumber("event_filter"), 0x2au);
}

TEST(ReadPmuFacts, ThisMachineHasAtLeastSoftwareEvents) {
  const PmuFacts facts = ReadPmuFacts();
  if (!facts.sysfs) GTEST_SKIP() << "/sys/bus/event_source is hidden here";
  EXPECT_NE(std::find(facts.names.begin(), facts.names.end(), "software"), facts.names.end());
}

}  // namespace
}  // namespace memagent::os
