// What would be opened on every machine of tests/support/machines.h, whole, in
// tests/golden/ladders. MEMAGENT_UPDATE_GOLDEN=1 rewrites the files: read the difference before you
// commit it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "agent/base/engine_names.h"
#include "agent/capture/event_selection.h"
#include "agent/os/perf_attr_text.h"
#include "tests/support/machines.h"

namespace memagent::capture {
namespace {

// By bit number (facts: perf_abi 1.2).
constexpr const char* kSampleNames[] = {"IP",
                                        "TID",
                                        "TIME",
                                        "ADDR",
                                        "READ",
                                        "CALLCHAIN",
                                        "ID",
                                        "CPU",
                                        "PERIOD",
                                        "STREAM_ID",
                                        "RAW",
                                        "BRANCH_STACK",
                                        "REGS_USER",
                                        "STACK_USER",
                                        "WEIGHT",
                                        "DATA_SRC",
                                        "IDENTIFIER",
                                        "TRANSACTION",
                                        "REGS_INTR",
                                        "PHYS_ADDR",
                                        "AUX",
                                        "CGROUP",
                                        "DATA_PAGE_SIZE",
                                        "CODE_PAGE_SIZE",
                                        "WEIGHT_STRUCT"};

std::string SampleText(uint64_t sample_type) {
  std::string text;
  for (size_t bit = 0; bit < std::size(kSampleNames); ++bit) {
    if ((sample_type >> bit & 1) != 0) text += std::string(" ") + kSampleNames[bit];
  }
  return text;
}

// Without what depends on the headers that this test was built with.
std::string AttrText(perf_event_attr attr) {
  attr.size = 0;
  return std::string(std::string_view(os::PerfAttrText(attr)));
}

std::ostream& operator<<(std::ostream& out, const EventAttempt& attempt) {
  out << "    " << attempt.event << (attempt.scope == EventScope::kCpu ? " on each CPU" : "")
      << "\n";
  if (attempt.has_leader) out << "      leader  " << AttrText(attempt.leader) << "\n";
  out << "      attr    " << AttrText(attempt.attr) << "\n";
  out << "      sample " << SampleText(attempt.attr.sample_type) << "\n";
  if (!attempt.loss.empty()) out << "      lacks   " << attempt.loss << "\n";
  return out;
}

std::ostream& operator<<(std::ostream& out, const EnginePlan& plan) {
  out << "engine " << base::EngineName(plan.engine) << ", period " << plan.period << " "
      << plan.period_unit << " in steps of " << plan.period_step
      << (plan.uses_aux ? ", AUX area" : "") << (plan.varies_itself ? ", varies itself" : "")
      << "\n";
  if (!plan.rate_change.empty()) out << "  " << plan.rate_change << "\n";
  // The same everywhere but for the architecture of this build.
  if (plan.engine == EngineKind::kSoftware) return out;
  for (const EventLadder& ladder : plan.access) {
    out << "  the first of these that opens\n";
    for (const EventAttempt& attempt : ladder) out << attempt;
  }
  return out;
}

std::string Describe(const testing::Machine& machine) {
  const EventSelection selection = SelectEvents(testing::FactsOf(machine), {});
  std::ostringstream out;
  out << machine.title << "\n\n";
  for (const EnginePlan& plan : selection.plans) out << plan;
  for (const EngineRefusal& refusal : selection.refusals) {
    out << "not " << base::EngineName(refusal.engine) << ": " << refusal.reason << "\n  "
        << refusal.remedy << "\n";
  }
  return out.str();
}

std::filesystem::path GoldenPath(const testing::Machine& machine) {
  return std::filesystem::path(MEMAGENT_SOURCE_DIR) / "tests/golden/ladders" /
         (machine.name + ".txt");
}

class GoldenLadders : public ::testing::TestWithParam<testing::Machine> {};

TEST_P(GoldenLadders, AreAsWritten) {
  const std::string text = Describe(GetParam());
  const std::filesystem::path path = GoldenPath(GetParam());
  if (std::getenv("MEMAGENT_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

INSTANTIATE_TEST_SUITE_P(Machines, GoldenLadders, ::testing::ValuesIn(testing::AllMachines()),
                         [](const auto& machine) {
                           std::string name = machine.param.name;
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

TEST(GoldenLadderFiles, BelongToAMachine) {
  std::set<std::string> names;
  for (const testing::Machine& machine : testing::AllMachines()) {
    EXPECT_TRUE(names.insert(machine.name + ".txt").second) << machine.name;
  }
  const auto folder = std::filesystem::path(MEMAGENT_SOURCE_DIR) / "tests/golden/ladders";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_EQ(names.count(entry.path().filename()), 1u) << entry.path();
  }
}

// On every machine: what all ladders promise.
TEST_P(GoldenLadders, FirstAttemptIsTheBestAndNoneIsTriedTwice) {
  const EventSelection selection = SelectEvents(testing::FactsOf(GetParam()), {});
  for (const EnginePlan& plan : selection.plans) {
    for (const EventLadder& ladder : plan.access) {
      std::set<std::string> seen;
      for (const EventAttempt& attempt : ladder) {
        EXPECT_TRUE(
            seen.insert(AttrText(attempt.attr) + (attempt.scope == EventScope::kCpu ? "*" : ""))
                .second)
            << attempt.event;
        EXPECT_TRUE(&attempt == &ladder.front() || !attempt.loss.empty());
        EXPECT_EQ(attempt.attr.clockid, CLOCK_MONOTONIC);
        EXPECT_TRUE(attempt.attr.use_clockid && attempt.attr.disabled && !attempt.attr.freq);
        EXPECT_EQ(attempt.attr.sample_period, plan.period);
        EXPECT_EQ(plan.period % plan.period_step, 0u);
      }
    }
  }
}

}  // namespace
}  // namespace memagent::capture
