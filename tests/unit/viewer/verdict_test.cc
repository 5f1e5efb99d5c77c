#include "viewer/verdict.h"

#include <gtest/gtest.h>

namespace memagent::viewer {
namespace {

Change Shares(uint64_t x, uint64_t m, uint64_t y, uint64_t n) {
  return MakeChange({MeasuredShare(x, m, 1)}, {MeasuredShare(y, n, 1)});
}

Change Amounts(double before, double after, double deviation) {
  return MakeChange({MeasuredAmount(before, deviation)}, {MeasuredAmount(after, deviation)});
}

TEST(Verdict, LessThanBeforeIsBetter) {
  EXPECT_EQ(JudgeShare(Shares(500, 1000, 100, 1000)), Verdict::kBetter);
  EXPECT_EQ(JudgeShare(Shares(100, 1000, 500, 1000)), Verdict::kWorse);
}

TEST(Verdict, ChangeWithinTheMarginIsSameHoweverSure) {
  EXPECT_EQ(JudgeShare(Shares(50'000, 100'000, 50'100, 100'000)), Verdict::kSame);
  EXPECT_EQ(JudgeShare(Shares(5'000'000, 10'000'000, 5'100'000, 10'000'000)), Verdict::kSame);
}

TEST(Verdict, ChangeThatCanNeitherBeSeenNorExcludedIsNotClear) {
  EXPECT_EQ(JudgeShare(Shares(500, 1000, 510, 1000)), Verdict::kNoClearChange);
}

TEST(Verdict, WithoutIntervalThereIsNone) {
  EXPECT_EQ(JudgeShare(Shares(0, 0, 5, 10)), Verdict::kNotEnoughSamples);
  EXPECT_EQ(
      JudgeAmount(MakeChange({MeasuredAmount(2, std::nullopt)}, {MeasuredAmount(1, std::nullopt)})),
      Verdict::kNotEnoughSamples);
}

TEST(Verdict, FaultThatIsGoneIsFixed) {
  EXPECT_EQ(JudgeRemote(Shares(500, 1000, 5, 1000)), Verdict::kFixed);
  EXPECT_EQ(JudgeRemote(Shares(500, 1000, 60, 1000)), Verdict::kBetter);  // some is left
  EXPECT_EQ(JudgeRemote(Shares(90, 1000, 0, 1000)), Verdict::kBetter);    // it was no fault
}

TEST(Verdict, OfAnAmountIsRelative) {
  EXPECT_EQ(JudgeAmount(Amounts(1000, 1005, 10)), Verdict::kSame);
  EXPECT_EQ(JudgeAmount(Amounts(1000, 700, 10)), Verdict::kBetter);
  EXPECT_EQ(JudgeAmount(Amounts(1000, 1000, 100)), Verdict::kNoClearChange);
}

TEST(Verdict, ShareThatGrewOnlyBecauseOthersShrankIsSame) {
  const Change share = Shares(2000, 10'000, 2000, 7'000);
  EXPECT_EQ(JudgeShare(share), Verdict::kWorse);
  EXPECT_EQ(JudgeCost(share, Amounts(2000, 2000, 45)), Verdict::kSame);
  EXPECT_EQ(JudgeCost(share, Amounts(2000, 2000, 450)), Verdict::kNoClearChange);
}

TEST(Verdict, ShareAndAmountThatAgreeAreJudged) {
  EXPECT_EQ(JudgeCost(Shares(2000, 10'000, 500, 8'500), Amounts(2000, 500, 50)), Verdict::kBetter);
  EXPECT_EQ(JudgeCost(Shares(500, 8'500, 2000, 10'000), Amounts(500, 2000, 50)), Verdict::kWorse);
}

TEST(Verdict, RemoteAndCostMakeOneWord) {
  using enum Verdict;
  EXPECT_EQ(Together(kFixed, kBetter), kFixed);
  EXPECT_EQ(Together(kFixed, kNoClearChange), kFixed);
  EXPECT_EQ(Together(kFixed, kWorse), kMixed);
  EXPECT_EQ(Together(kWorse, kBetter), kMixed);
  EXPECT_EQ(Together(kSame, kWorse), kWorse);
  EXPECT_EQ(Together(kMixed, kSame), kMixed);
  EXPECT_EQ(Together(kMixed, kBetter), kMixed);
  EXPECT_EQ(Together(kMixed, kWorse), kWorse);
  EXPECT_EQ(Together(kBetter, kSame), kBetter);
  EXPECT_EQ(Together(kSame, kSame), kSame);
  EXPECT_EQ(Together(kSame, kNoClearChange), kNoClearChange);
  EXPECT_EQ(Together(kNotEnoughSamples, kSame), kSame);
  EXPECT_EQ(Together(kSame, kNotEnoughSamples), kSame);
  EXPECT_EQ(Together(kNotEnoughSamples, kNotEnoughSamples), kNotEnoughSamples);
}

}  // namespace
}  // namespace memagent::viewer
