#include "viewer/verdict.h"

#include <cmath>

namespace memagent::viewer {
namespace {

Verdict Judge(const Change& change, double margin) {
  if (!change.HasInterval()) return Verdict::kNotEnoughSamples;
  if (change.interval.low >= -margin && change.interval.high <= margin) return Verdict::kSame;
  if (change.judged.high < 0) return Verdict::kBetter;
  if (change.judged.low > 0) return Verdict::kWorse;
  return Verdict::kNoClearChange;
}

bool IsGood(Verdict verdict) { return verdict == Verdict::kBetter || verdict == Verdict::kFixed; }

}  // namespace

std::string_view VerdictWord(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFixed:
      return "fixed";
    case Verdict::kBetter:
      return "better";
    case Verdict::kWorse:
      return "worse";
    case Verdict::kMixed:
      return "mixed";
    case Verdict::kSame:
      return "same";
    case Verdict::kNoClearChange:
      return "no clear change";
    case Verdict::kNew:
      return "new";
    case Verdict::kGone:
      return "gone";
    case Verdict::kNotComparable:
      return "not comparable";
    case Verdict::kNotEnoughSamples:
      break;
  }
  return "not enough samples";
}

Verdict JudgeShare(const Change& change) { return Judge(change, kSameShare); }

Verdict JudgeAmount(const Change& change) {
  return Judge(change, kSameAmount * std::fabs(change.before.value_or(0)));
}

Verdict JudgeRemote(const Change& change) {
  const Verdict verdict = JudgeShare(change);
  const bool fixed = verdict == Verdict::kBetter && change.before_interval.low > kFaultShare &&
                     change.after_interval.high < kFixedShare;
  return fixed ? Verdict::kFixed : verdict;
}

Verdict JudgeCost(const Change& share, const Change& amount) {
  const Verdict by_share = JudgeShare(share);
  const Verdict by_amount = JudgeAmount(amount);
  if (by_share == by_amount || by_amount == Verdict::kNotEnoughSamples) return by_share;
  if (by_share == Verdict::kNotEnoughSamples) return by_share;
  const bool one_is_same = by_share == Verdict::kSame || by_amount == Verdict::kSame;
  return one_is_same ? Verdict::kSame : Verdict::kNoClearChange;
}

Verdict Together(Verdict remote, Verdict cost) {
  if (remote == Verdict::kNotEnoughSamples) return cost;
  if (cost == Verdict::kNotEnoughSamples) return remote;
  if (IsGood(remote) && cost == Verdict::kWorse) return Verdict::kMixed;
  if (remote == Verdict::kWorse && IsGood(cost)) return Verdict::kMixed;
  if (remote == Verdict::kFixed) return remote;
  if (remote == Verdict::kWorse || cost == Verdict::kWorse) return Verdict::kWorse;
  if (remote == Verdict::kMixed) return remote;
  if (IsGood(remote) || IsGood(cost)) return Verdict::kBetter;
  return remote == cost ? remote : Verdict::kNoClearChange;
}

}  // namespace memagent::viewer
