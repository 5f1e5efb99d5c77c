#include "viewer/prediction.h"

#include <gtest/gtest.h>

#include "tests/unit/viewer/placed_site.h"

namespace memagent::viewer {
namespace {

Prediction Predicted(double remote, double distance) {
  Prediction result;
  result.remote = remote;
  result.interval = {std::max(0.0, remote - 0.02), std::min(1.0, remote + 0.02)};
  result.distance = distance;
  return result;
}

TEST(Prediction, FewerRemoteAccessesAreBetter) {
  EXPECT_TRUE(IsBetter(Predicted(0.5, 0), Predicted(0.4, 0)));
  EXPECT_FALSE(IsBetter(Predicted(0.5, 0), Predicted(0.47, 0)));
}

TEST(Prediction, AsManyRemoteAccessesOfLessDistanceAreBetter) {
  EXPECT_TRUE(IsBetter(Predicted(1, 32), Predicted(1, 12)));
  EXPECT_FALSE(IsBetter(Predicted(1, 32), Predicted(1, 28)));      // hardly nearer
  EXPECT_FALSE(IsBetter(Predicted(0.5, 21), Predicted(0.9, 11)));  // surely more are remote
}

// Of few samples a mean distance is as unsure as the share: here all remote accesses go as far.
TEST(Prediction, LessDistanceByFewerSamplesIsNotSure) {
  Prediction now = Predicted(0.5, 15);
  Prediction after = Predicted(0.2, 12);
  now.interval = {0.33, 0.67};
  after.interval = {0.1, 0.37};
  EXPECT_FALSE(IsBetter(now, after));
}

TEST(Prediction, GainOfLessDistanceIsInProportion) {
  PlacedSite site;
  site.Use(0, 0, 1, 1000);
  const View view = site.Build();
  const Gain gain = GainOf(view, view.sites.at(0), Predicted(1, 32), Predicted(1, 12));
  EXPECT_NEAR(gain.share, 1 - 2.0 / 22, 1e-6);
  const Gain plain = GainOf(view, view.sites.at(0), Predicted(0.5, 0), Predicted(0.1, 0));
  EXPECT_NEAR(plain.share, 0.4, 1e-6);
}

TEST(Prediction, NodesThatTheMachineDoesNotHaveAreNoCandidates) {
  PlacedSite site;
  for (v1::Node& node : *site.machine().mutable_nodes()) node.clear_cpu_list();
  site.Use(0, 5, 0, 900).Use(1, 1, 0, 100);
  const View view = site.Build();
  EXPECT_EQ(BestNode(view, view.sites.at(0), UseOf(view.sites.at(0))), 1);
}

// 10^10 steps where the use is summed up for each node anew.
TEST(Prediction, HundredThousandNodesOfADamagedFileTakeNoTime) {
  PlacedSite site;
  for (v1::Node& node : *site.machine().mutable_nodes()) node.clear_cpu_list();
  for (int node = 0; node < 100'000; ++node) site.Use(0, node, node % 2, 1);
  const View view = site.Build();
  EXPECT_GE(BestNode(view, view.sites.at(0), UseOf(view.sites.at(0))), 0);
}

}  // namespace
}  // namespace memagent::viewer
