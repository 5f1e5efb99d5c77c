// Holds the intervals and verdicts of `memagent diff` against programs whose truth is known: in 200
// pairs of runs a 95 % interval must hold the true change in 92 to 98 % of them, and a program that
// did not change must not be said to have. Chance is fixed. docs/DECISIONS.md, D35, has the numbers
// and what no single pair of runs can tell.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/viewer/simulated_run.h"
#include "viewer/diff.h"

namespace memagent::viewer {
namespace {

constexpr int kPairs = 200;

// How a simulated program behaves. Site 1 is what is asked about.
struct Program {
  uint32_t threads = 8;
  size_t samples = 4000;
  size_t kept = 20'000;
  double site_share = 0.6;     // of site 1, of all samples
  std::vector<double> remote;  // of site 1, by thread, used in turn
  double clump = 1;            // mean samples of a thread in a row that are alike
  bool random_nodes = false;   // each run puts each thread on either node; pages are on 0
  double drift = 0;            // standard deviation of the remote share between runs
  bool halves = false;         // local in the first half of the run, remote in the second
};

// What the next sample of a thread is: keeps its state for a random time.
struct ThreadState {
  bool begun = false;
  bool remote = false;
  bool in_site = false;
  int32_t node = 0;
};

std::vector<SimulatedSample> Samples(const Program& program, Chance& chance) {
  std::vector<ThreadState> states(program.threads);
  for (ThreadState& state : states) state.node = chance.Is(0.5) ? 1 : 0;
  const double drift = program.drift * chance.Normal();
  std::vector<SimulatedSample> samples;
  samples.reserve(program.samples);
  for (size_t i = 0; i < program.samples; ++i) {
    const uint32_t t = chance.Below(program.threads);
    ThreadState& state = states[t];
    if (!state.begun || chance.Is(1 / program.clump)) {
      const double share = program.remote[t % program.remote.size()] + drift;
      state.begun = true;
      state.remote = program.halves ? i >= program.samples / 2 : chance.Is(share);
      state.in_site = chance.Is(program.site_share);
    }
    SimulatedSample sample;
    sample.thread = t + 1;
    sample.site = state.in_site ? 1 : 2;
    sample.cpu_node = program.random_nodes ? state.node : 0;
    sample.memory_node = sample.cpu_node;
    if (state.in_site) sample.memory_node = program.random_nodes ? 0 : (state.remote ? 1 : 0);
    samples.push_back(sample);
  }
  return samples;
}

double MeanRemote(const Program& program) {
  double sum = 0;
  for (uint32_t t = 0; t < program.threads; ++t) sum += program.remote[t % program.remote.size()];
  return sum / program.threads;
}

struct Tally200 {
  int remote = 0;    // intervals of the remote share that hold the truth
  int share = 0;     // intervals of the site's share that do
  int changed = 0;   // diffs with better, worse, fixed or mixed anywhere
  int same = 0;      // site 1 is "same"
  int as_told = 0;   // site 1 is what the test says
  double width = 0;  // mean half width of the remote interval, in points

  double Percent(int count) const { return 100.0 * count / kPairs; }
};

bool SaysChanged(Verdict verdict) {
  return verdict == Verdict::kBetter || verdict == Verdict::kWorse || verdict == Verdict::kFixed ||
         verdict == Verdict::kMixed;
}

DiffSide SideOf(const std::vector<View>& views) {
  DiffSide side;
  for (const View& view : views) side.Add(view, "");
  return side;
}

Tally200 Simulate(const Program& before, const Program& after, int runs = 1,
                  Verdict told = Verdict::kSame) {
  Chance chance(2);
  const double truth = MeanRemote(after) - MeanRemote(before);
  const double share_truth = after.site_share - before.site_share;
  Tally200 tally;
  for (int pair = 0; pair < kPairs; ++pair) {
    std::vector<View> befores;
    std::vector<View> afters;
    for (int run = 0; run < runs; ++run) {
      befores.push_back(SimulatedRun(Samples(before, chance), chance, before.kept));
      afters.push_back(SimulatedRun(Samples(after, chance), chance, after.kept));
    }
    const Diff diff = Compare(SideOf(befores), SideOf(afters));
    bool changed = SaysChanged(diff.remote_verdict);
    for (const DiffRow& row : diff.rows) {
      changed = changed || SaysChanged(row.verdict);
      if (row.any().profile_id != 1) continue;
      tally.remote += row.remote.interval.low <= truth && truth <= row.remote.interval.high;
      tally.share +=
          row.share.interval.low <= share_truth && share_truth <= row.share.interval.high;
      tally.width += 100 * row.remote.HalfWidth() / kPairs;
      tally.same += row.verdict == Verdict::kSame;
      tally.as_told += row.verdict == told;
    }
    tally.changed += changed;
  }
  testing::Test::RecordProperty("remote_covered", std::to_string(tally.Percent(tally.remote)));
  testing::Test::RecordProperty("share_covered", std::to_string(tally.Percent(tally.share)));
  testing::Test::RecordProperty("said_changed", std::to_string(tally.Percent(tally.changed)));
  testing::Test::RecordProperty("said_same", std::to_string(tally.Percent(tally.same)));
  testing::Test::RecordProperty("as_told", std::to_string(tally.Percent(tally.as_told)));
  testing::Test::RecordProperty("half_width", std::to_string(tally.width));
  return tally;
}

void ExpectCovered(int count) {
  EXPECT_GE(count, kPairs * 92 / 100);
  EXPECT_LE(count, kPairs * 98 / 100);
}

TEST(DiffSimulation, IndependentSamplesUnchanged) {
  const Program program = {.remote = {0.3}};
  const Tally200 tally = Simulate(program, program);
  ExpectCovered(tally.remote);
  ExpectCovered(tally.share);
  EXPECT_LE(tally.changed, kPairs * 5 / 100);
}

TEST(DiffSimulation, IndependentSamplesChanged) {
  const Tally200 tally = Simulate({.remote = {0.5}}, {.remote = {0.2}}, 1, Verdict::kBetter);
  ExpectCovered(tally.remote);
  EXPECT_EQ(tally.as_told, kPairs);
}

// Threads that differ are no choice of many: half of them are remote in every run.
TEST(DiffSimulation, HalfOfTheThreadsRemoteUnchanged) {
  const Program program = {.remote = {1, 0}};
  const Tally200 tally = Simulate(program, program);
  ExpectCovered(tally.remote);
  EXPECT_LT(tally.width, 4);
  EXPECT_LE(tally.changed, kPairs * 5 / 100);
}

TEST(DiffSimulation, HalfOfTheThreadsRemoteIsFixed) {
  const Tally200 tally = Simulate({.threads = 4, .remote = {1, 0}},
                                  {.threads = 4, .remote = {0.01}}, 1, Verdict::kFixed);
  ExpectCovered(tally.remote);
  EXPECT_EQ(tally.as_told, kPairs);
}

TEST(DiffSimulation, ClumpedSamples) {
  const Program program = {.remote = {0.7, 0.1}, .clump = 10};
  const Tally200 tally = Simulate(program, program);
  ExpectCovered(tally.remote);
  ExpectCovered(tally.share);
  EXPECT_LE(tally.changed, kPairs * 5 / 100);
}

TEST(DiffSimulation, ClumpedSamplesOfTwoThreads) {
  const Program program = {.threads = 2, .remote = {0.8, 0.2}, .clump = 20};
  const Tally200 tally = Simulate(program, program);
  ExpectCovered(tally.remote);
  ExpectCovered(tally.share);
  EXPECT_LE(tally.changed, kPairs * 5 / 100);
}

TEST(DiffSimulation, ClumpedSamplesOfOneThread) {
  const Program program = {.threads = 1, .remote = {0.4}, .clump = 10};
  const Tally200 tally = Simulate(program, program);
  ExpectCovered(tally.remote);
  EXPECT_LE(tally.changed, kPairs * 5 / 100);
}

TEST(DiffSimulation, ClumpedSamplesOfWhichAFifthIsKept) {
  const Program program = {.samples = 20'000, .kept = 4000, .remote = {0.5}, .clump = 20};
  const Tally200 tally = Simulate(program, program);
  ExpectCovered(tally.remote);
  EXPECT_LE(tally.changed, kPairs * 5 / 100);
}

// The limit: without single samples nothing tells that they are clumped, and the diff says so.
TEST(DiffSimulation, ClumpedSamplesOfWhichNoneIsKeptAreTakenAsIndependent) {
  const Program program = {.kept = 0, .remote = {0.7, 0.1}, .clump = 10};
  const Tally200 tally = Simulate(program, program);
  EXPECT_LT(tally.remote, kPairs * 92 / 100);
}

TEST(DiffSimulation, ThreadsPutOnNodesByChance) {
  for (const uint32_t threads : {8u, 16u}) {
    const Program program = {.threads = threads, .remote = {0.5}, .random_nodes = true};
    const Tally200 tally = Simulate(program, program);
    ExpectCovered(tally.remote);
    EXPECT_LE(tally.changed, kPairs * 5 / 100) << threads;
  }
}

TEST(DiffSimulation, RunsThatDifferByThemselvesNeedSeveral) {
  const Program program = {.samples = 2000, .remote = {0.3}, .drift = 0.05};
  const Tally200 tally = Simulate(program, program, 3);
  ExpectCovered(tally.remote);
  EXPECT_LE(tally.changed, kPairs * 5 / 100);
}

// One change of phase in every thread, the same in every run, is no chance either.
TEST(DiffSimulation, PhasesOfAProgramAreNotChance) {
  const Program program = {.remote = {0.5}, .halves = true};
  const Tally200 tally = Simulate(program, program);
  EXPECT_GE(tally.remote, kPairs * 92 / 100);
  EXPECT_LT(tally.width, 4);
}

TEST(DiffSimulation, UnchangedProgramWithEnoughSamplesIsTheSame) {
  const Program program = {.samples = 20'000, .kept = 4000, .remote = {0.1, 0}};
  const Tally200 tally = Simulate(program, program);
  EXPECT_GE(tally.same, kPairs * 95 / 100);
  EXPECT_LE(tally.changed, kPairs * 5 / 100);
}

}  // namespace
}  // namespace memagent::viewer
