// Memory that one node serves to several, before and after it was spread over them. Every case is a
// pair of simulated runs; those that did not change are 200 pairs.
#include "viewer/spread.h"

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/viewer/simulated_run.h"
#include "viewer/change_text.h"
#include "viewer/diff.h"

namespace memagent::viewer {
namespace {

constexpr int kPairs = 200;

// A run of 8 threads. Site 1 is what is asked about, site 2 is local.
struct Program {
  int nodes = 2;
  size_t samples = 4000;
  double site_share = 0.6;
  double filled = 0;  // part that thread 0 makes on node 0 before the others begin
  // Of thread 0 to 7.
  std::function<int(uint32_t)> cpu_node = [](uint32_t thread) { return thread % 2; };
  // Of a page of site 1.
  std::function<int(Chance&)> memory_node = [](Chance&) { return 0; };
};

std::function<int(Chance&)> OneOf(int nodes) {
  return [nodes](Chance& chance) {
    return static_cast<int>(chance.Below(static_cast<uint32_t>(nodes)));
  };
}

std::function<int(uint32_t)> Turns(int nodes) {
  return [nodes](uint32_t thread) { return static_cast<int>(thread) % nodes; };
}

std::function<int(uint32_t)> FirstOnNodeOne(uint32_t threads) {
  return [threads](uint32_t thread) { return thread < threads ? 1 : 0; };
}

Program SharedBy(int nodes) {
  Program program;
  program.nodes = nodes;
  program.cpu_node = Turns(nodes);
  return program;
}

Program SpreadOver(Program program, int nodes) {
  program.memory_node = OneOf(nodes);
  return program;
}

View RunOf(const Program& program, Chance& chance) {
  std::vector<SimulatedSample> samples;
  for (size_t i = 0; i < program.samples; ++i) {
    SimulatedSample sample;
    const uint32_t thread = chance.Is(program.filled) ? 0 : chance.Below(8);
    sample.thread = thread + 1;
    sample.site = chance.Is(program.site_share) ? 1 : 2;
    sample.cpu_node = program.cpu_node(thread);
    sample.memory_node = sample.site == 1 ? program.memory_node(chance) : sample.cpu_node;
    samples.push_back(sample);
  }
  return SimulatedRun(samples, chance, 20'000, program.nodes);
}

DiffRow RowOf(const Diff& diff) {
  for (const DiffRow& row : diff.rows) {
    if (row.any().profile_id == 1) return row;
  }
  ADD_FAILURE();
  return {};
}

FirstTouch Touch(uint32_t thread, int32_t node) {
  FirstTouch touch;
  touch.thread = thread;
  touch.cpu_node = node;
  touch.pages = 1000;
  return touch;
}

class Spread : public testing::Test {
 protected:
  // Rows point into the views.
  DiffRow Compared(const Program& before, const Program& after) {
    Chance chance(7);
    before_ = RunOf(before, chance);
    after_ = RunOf(after, chance);
    return RowOf(Compare(DiffSide(before_, "before"), DiffSide(after_, "after")));
  }

 private:
  View before_;
  View after_;
};

TEST_F(Spread, OverBothNodesThatUseItIsFixed) {
  const DiffRow row = Compared(SharedBy(2), SpreadOver(SharedBy(2), 2));
  EXPECT_NEAR(*row.busiest_node.before, 1, 1e-9);
  EXPECT_NEAR(*row.busiest_node.after, 0.5, 0.03);
  EXPECT_NE(row.remote_verdict, Verdict::kFixed);  // half of it, as before
  EXPECT_EQ(row.spread_verdict, Verdict::kFixed);
  EXPECT_EQ(row.verdict, Verdict::kFixed);
}

TEST_F(Spread, OverFourNodesIsFixed) {
  const DiffRow row = Compared(SharedBy(4), SpreadOver(SharedBy(4), 4));
  EXPECT_NEAR(*row.busiest_node.after, 0.25, 0.03);
  EXPECT_EQ(row.verdict, Verdict::kFixed);
}

TEST_F(Spread, OverHalfOfTheNodesThatUseItIsNotFixed) {
  const DiffRow row = Compared(SharedBy(4), SpreadOver(SharedBy(4), 2));
  EXPECT_FALSE(row.spread_verdict);
  EXPECT_NE(row.verdict, Verdict::kFixed);
}

TEST_F(Spread, ThatLeavesMostOnOneNodeIsNotFixed) {
  Program after = SharedBy(2);
  after.memory_node = [](Chance& chance) { return chance.Is(0.3) ? 1 : 0; };
  EXPECT_FALSE(Compared(SharedBy(2), after).spread_verdict);
}

TEST_F(Spread, OverNodesThatDoNotUseItIsWorse) {
  Program before = SharedBy(4);
  before.cpu_node = Turns(2);
  const DiffRow row = Compared(before, SpreadOver(before, 4));
  EXPECT_FALSE(row.spread_verdict);
  EXPECT_EQ(row.verdict, Verdict::kWorse);  // half of it was remote, three quarters are
}

// As in examples/interleave_wanted: the thread that fills it is nearer to it before.
TEST_F(Spread, ThatMakesALittleMoreRemoteAsItMustIsFixed) {
  Program before = SharedBy(2);
  before.samples = 40'000;
  before.filled = 0.06;
  const DiffRow row = Compared(before, SpreadOver(before, 2));
  EXPECT_EQ(row.remote_verdict, Verdict::kWorse);
  EXPECT_LT(row.remote.Value(), 0.05);
  EXPECT_EQ(row.verdict, Verdict::kFixed);
}

TEST_F(Spread, ThatMakesMoreRemoteAsItMustIsMixed) {
  Program before;
  before.cpu_node = FirstOnNodeOne(2);
  const DiffRow row = Compared(before, SpreadOver(before, 2));
  EXPECT_EQ(row.remote_verdict, Verdict::kWorse);  // a quarter, then half of it
  EXPECT_EQ(row.spread_verdict, Verdict::kFixed);
  EXPECT_EQ(row.verdict, Verdict::kMixed);
}

TEST_F(Spread, AtHigherCostIsMixed) {
  Program after = SpreadOver(SharedBy(2), 2);
  after.samples = 10'000;
  after.site_share = 0.85;
  const DiffRow row = Compared(SharedBy(2), after);
  EXPECT_EQ(row.cost_verdict, Verdict::kWorse);
  EXPECT_EQ(row.verdict, Verdict::kMixed);
}

TEST_F(Spread, OfWhatOneNodeUsesHasNoVerdict) {
  Program bound;
  bound.cpu_node = FirstOnNodeOne(0);
  EXPECT_FALSE(Compared(bound, bound).spread_verdict);
  const DiffRow spread = Compared(bound, SpreadOver(bound, 2));
  EXPECT_FALSE(spread.spread_verdict);
  EXPECT_EQ(spread.verdict, Verdict::kWorse);
  const DiffRow beside_its_user = Compared(SpreadOver(bound, 2), bound);
  EXPECT_FALSE(beside_its_user.spread_verdict);
  EXPECT_EQ(beside_its_user.verdict, Verdict::kFixed);
}

TEST_F(Spread, OfSeveralRunsGoesByAllOfThem) {
  Chance chance(8);
  std::vector<View> views;
  for (int run = 0; run < 3; ++run) views.push_back(RunOf(SharedBy(2), chance));
  for (int run = 0; run < 3; ++run) views.push_back(RunOf(SpreadOver(SharedBy(2), 2), chance));
  const auto side = [&views](std::initializer_list<size_t> runs) {
    DiffSide result;
    for (const size_t run : runs) result.Add(views[run], "");
    return result;
  };
  EXPECT_EQ(RowOf(Compare(side({0, 1, 2}), side({3, 4, 5}))).verdict, Verdict::kFixed);
  // As often spread as not, on either side.
  EXPECT_FALSE(RowOf(Compare(side({0, 1, 3}), side({2, 4, 5}))).spread_verdict);
}

// Every page is used by the node that it lies on.
TEST_F(Spread, OfWhatIsNotRemoteHasNoVerdict) {
  Chance chance(7);
  std::vector<View> views;
  for (const uint32_t threads_on_one : {1u, 4u}) {
    std::vector<SimulatedSample> samples;
    for (uint32_t i = 0; i < 4000; ++i) {
      SimulatedSample sample;
      sample.thread = 1 + i % 8;
      sample.cpu_node = sample.memory_node = i % 8 < threads_on_one ? 1 : 0;
      samples.push_back(sample);
    }
    views.push_back(SimulatedRun(samples, chance));
  }
  const DiffRow row = RowOf(Compare(DiffSide(views[0], "a"), DiffSide(views[1], "b")));
  EXPECT_LT(*row.busiest_node.after, *row.busiest_node.before - 0.3);
  EXPECT_FALSE(row.spread_verdict);
  EXPECT_EQ(row.verdict, Verdict::kSame);
}

// First touch by all threads: pages follow where chance put these.
TEST_F(Spread, ThatMovedThreadsExplainHasNoVerdict) {
  Program before;
  before.cpu_node = FirstOnNodeOne(1);
  before.memory_node = [](Chance& chance) { return chance.Is(0.125) ? 1 : 0; };
  Program after;
  after.cpu_node = FirstOnNodeOne(4);
  after.memory_node = OneOf(2);
  const DiffRow row = Compared(before, after);
  EXPECT_EQ(row.busiest_node.basis, Basis::kPlacement);
  EXPECT_FALSE(row.spread_verdict);
}

TEST_F(Spread, IsNeverSaidOfUnchangedRuns) {
  Chance chance(11);
  for (const int nodes : {2, 4}) {
    for (const bool concentrated : {true, false}) {
      const Program program = concentrated ? SharedBy(nodes) : SpreadOver(SharedBy(nodes), nodes);
      for (const size_t samples : {80, 400, 4000}) {
        Program sized = program;
        sized.samples = samples;
        int held = 0;
        for (int pair = 0; pair < kPairs; ++pair) {
          const View before = RunOf(sized, chance);
          const View after = RunOf(sized, chance);
          const DiffRow row = RowOf(Compare(DiffSide(before, "a"), DiffSide(after, "b")));
          EXPECT_FALSE(row.spread_verdict) << nodes << " " << samples;
          EXPECT_NE(row.verdict, Verdict::kFixed) << nodes << " " << samples;
          held += row.busiest_node.interval.low <= 0 && 0 <= row.busiest_node.interval.high;
        }
        EXPECT_GE(held, kPairs * 92 / 100) << nodes << " " << samples;
      }
    }
  }
}

// Each run puts each thread on either node, and pages lie where the first threads are, which touch
// them first.
int SaidOfThreadsPutByChance(uint32_t touching, bool faults) {
  Chance chance(13);
  int said = 0;
  for (int pair = 0; pair < kPairs; ++pair) {
    std::vector<View> views;
    for (int run = 0; run < 2; ++run) {
      std::vector<int> nodes;
      for (int thread = 0; thread < 8; ++thread) nodes.push_back(chance.Is(0.5) ? 1 : 0);
      Program program;
      program.cpu_node = [&nodes](uint32_t thread) { return nodes[thread]; };
      program.memory_node = [&](Chance& own) { return nodes[own.Below(touching)]; };
      views.push_back(RunOf(program, chance));
      for (uint32_t thread = 0; faults && thread < touching; ++thread) {
        views.back().sites[0].first_touch.push_back(Touch(thread + 1, nodes[thread]));
      }
    }
    const Diff diff = Compare(DiffSide(views[0], "a"), DiffSide(views[1], "b"));
    said += RowOf(diff).spread_verdict.has_value();
  }
  return said;
}

TEST_F(Spread, IsNeverSaidOfThreadsPutByChance) {
  EXPECT_EQ(SaidOfThreadsPutByChance(8, false), 0);
  for (const uint32_t touching : {1u, 2u, 4u, 8u}) {
    EXPECT_EQ(SaidOfThreadsPutByChance(touching, true), 0) << touching;
  }
}

// Between what is concentrated and what is spread there is room.
TEST_F(Spread, IsNeverSaidOfUnchangedRunsInBetween) {
  Chance chance(12);
  Program program = SharedBy(2);
  program.memory_node = [](Chance& own) { return own.Is(0.31) ? 1 : 0; };
  for (const size_t samples : {80, 400, 4000}) {
    program.samples = samples;
    for (int pair = 0; pair < kPairs; ++pair) {
      const View before = RunOf(program, chance);
      const View after = RunOf(program, chance);
      const DiffRow row = RowOf(Compare(DiffSide(before, "a"), DiffSide(after, "b")));
      EXPECT_FALSE(row.spread_verdict) << samples;
    }
  }
}

TEST_F(Spread, IsOneSentenceBelowTheTable) {
  const DiffRow row = Compared(SharedBy(2), SpreadOver(SharedBy(2), 2));
  Terminal terminal;
  terminal.charset = Charset::kAscii;
  const std::string text = SpreadText(row, terminal);
  EXPECT_EQ(text.find("S1: one node's memory served 100.0 % of it, now no node's more than 5"), 0u)
      << text;
  EXPECT_EQ(SpreadText(Compared(SharedBy(2), SharedBy(2)), terminal), "");
}

TEST(SharedUse, NodesOfFewSamplesAreNoUsers) {
  SiteView site;
  for (const auto& [node, samples] : {std::pair(0, 900u), std::pair(1, 60u), std::pair(2, 40u)}) {
    Use use;
    use.cpu_node = node;
    use.memory_node = 0;
    use.samples = samples;
    site.uses.push_back(use);
  }
  const View view;
  SiteRuns runs;
  runs.runs = {&site, nullptr};
  const SharedUse use = SharedUseOf(DiffSide(view, ""), runs);
  EXPECT_EQ(use.users, 2u);
  EXPECT_NEAR(use.RemoteWhenSpread(), 1 - 0.96 / 2, 1e-9);
}

TEST(ExplainedByUse, IsTheChangeOfTheBusiestUser) {
  SharedUse before;
  before.by_node = {{0, 70}, {1, 30}};
  SharedUse after;
  after.by_node = {{0, 500}, {2, 500}};
  EXPECT_NEAR(ExplainedByUse(before, after), 0.2, 1e-9);
  EXPECT_NEAR(ExplainedByUse(before, before), 0, 1e-9);
}

// Of threads 1 to 3, which both runs have.
double Explained(std::vector<FirstTouch> before, std::vector<FirstTouch> after) {
  View views[2];
  for (View& view : views) {
    for (uint32_t id = 1; id <= 3; ++id) {
      ThreadView thread;
      thread.id = id;
      view.threads.push_back(thread);
    }
  }
  SiteView b;
  b.first_touch = std::move(before);
  SiteView a;
  a.first_touch = std::move(after);
  return ExplainedByTouch(ThreadPairs(views[0], views[1]), b, a);
}

TEST(ExplainedByTouch, IsWhatMovedThreadsTookWithThem) {
  EXPECT_NEAR(Explained({Touch(1, 0), Touch(2, 0)}, {Touch(1, 0), Touch(2, 1)}), 0.5, 1e-9);
  EXPECT_NEAR(Explained({Touch(1, 0), Touch(2, 0)}, {Touch(1, 0), Touch(2, 0)}), 0, 1e-9);
}

TEST(ExplainedByTouch, AllOfItOnAnotherNodeIsAsConcentrated) {
  EXPECT_NEAR(Explained({Touch(1, 0)}, {Touch(1, 1)}), 0, 1e-9);
}

TEST(ExplainedByTouch, OtherThreadsAreTheProgramsChange) {
  EXPECT_NEAR(Explained({Touch(1, 0)}, {Touch(1, 0), Touch(2, 1), Touch(3, 1)}), 0, 1e-9);
  EXPECT_NEAR(Explained({}, {Touch(1, 0), Touch(2, 1)}), 0, 1e-9);
}

TEST(WithSpread, LiftsOnlyWhatTheRemoteShareDoesNotJudge) {
  using enum Verdict;
  Change little;
  little.interval = {0.04, 0.06};
  Change much;
  much.interval = {0.06, 0.08};
  EXPECT_EQ(WithSpread(little, kSame, kFixed), kFixed);
  EXPECT_EQ(WithSpread(much, kNoClearChange, kFixed), kFixed);
  EXPECT_EQ(WithSpread(little, kWorse, kFixed), kFixed);
  EXPECT_EQ(WithSpread(much, kWorse, kFixed), kMixed);
  EXPECT_EQ(WithSpread(much, kBetter, kFixed), kBetter);
  EXPECT_EQ(WithSpread(little, kWorse, std::nullopt), kWorse);
  EXPECT_EQ(WithSpread(little, kSame, std::nullopt), kSame);
}

}  // namespace
}  // namespace memagent::viewer
