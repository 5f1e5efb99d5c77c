#include "viewer/advice_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memagent::viewer {
namespace {

using testing::ElementsAre;

Prediction Now() {
  Prediction now;
  now.remote = 0.5;
  now.interval = {0.48, 0.52};
  return now;
}

// Remote falls to `remote`, give or take `error`.
Advice Predicted(AdviceKind kind, double remote, double error) {
  Advice advice;
  advice.kind = kind;
  advice.after.emplace();
  advice.after->remote = remote;
  advice.after->interval = {remote - error, remote + error};
  advice.gain = Gain{0.5 - remote, {0.5 - remote - error, 0.5 - remote + error}, false};
  return advice;
}

Advice Plain(AdviceKind kind) {
  Advice advice;
  advice.kind = kind;
  return advice;
}

std::vector<AdviceKind> Ordered(std::vector<Advice> advice) {
  PutBestFirst(advice, Now());
  std::vector<AdviceKind> kinds;
  for (const Advice& each : advice) kinds.push_back(each.kind);
  return kinds;
}

TEST(AdviceOrder, WhatSurelyGainsMoreComesFirst) {
  EXPECT_THAT(Ordered({Predicted(AdviceKind::kPadLines, 0.3, 0.02),
                       Predicted(AdviceKind::kBind, 0.1, 0.02)}),
              ElementsAre(AdviceKind::kBind, AdviceKind::kPadLines));
}

// Memory that is bound to where a thread runs is remote again when the thread moves.
TEST(AdviceOrder, PinningStaysBeforeBinding) {
  EXPECT_THAT(Ordered({Predicted(AdviceKind::kPinThreads, 0.3, 0.02),
                       Predicted(AdviceKind::kBind, 0.01, 0.01)}),
              ElementsAre(AdviceKind::kPinThreads, AdviceKind::kBind));
}

TEST(AdviceOrder, GainsWithinTheirErrorsKeepTheirOrder) {
  EXPECT_THAT(Ordered({Predicted(AdviceKind::kPinThreads, 0.03, 0.02),
                       Predicted(AdviceKind::kBind, 0.01, 0.01)}),
              ElementsAre(AdviceKind::kPinThreads, AdviceKind::kBind));
}

TEST(AdviceOrder, SureGainsComeBeforeUnsureOnes) {
  EXPECT_THAT(Ordered({Predicted(AdviceKind::kSmallPages, 0.2, 0.3),
                       Predicted(AdviceKind::kBlock, 0.3, 0.02)}),
              ElementsAre(AdviceKind::kBlock, AdviceKind::kSmallPages));
}

TEST(AdviceOrder, WhatHasNoNumberIsLastButForNothing) {
  EXPECT_THAT(Ordered({Plain(AdviceKind::kNothing), Plain(AdviceKind::kInterleave),
                       Predicted(AdviceKind::kReplicate, 0.3, 0.02)}),
              ElementsAre(AdviceKind::kReplicate, AdviceKind::kInterleave, AdviceKind::kNothing));
}

TEST(AdviceOrder, LatencyAndSamplesAreNotCompared) {
  Advice bind = Predicted(AdviceKind::kBind, 0.01, 0.01);
  bind.gain->of_latency = true;
  EXPECT_THAT(Ordered({Predicted(AdviceKind::kPadLines, 0.4, 0.01), bind}),
              ElementsAre(AdviceKind::kPadLines, AdviceKind::kBind));
}

}  // namespace
}  // namespace memagent::viewer
