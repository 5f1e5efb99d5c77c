#include "viewer/advice_order.h"

#include <algorithm>
#include <utility>

namespace memagent::viewer {
namespace {

int RankOf(const Advice& advice, const Prediction& now) {
  if (!advice.Helps()) return 3;
  if (!advice.gain) return 2;
  return advice.after && !IsBetter(now, *advice.after) ? 1 : 0;
}

// Shares of the latency and of the samples can't be compared. Binding to the node where a thread
// runs now helps only until it moves again: pinning is never put behind it.
bool GainsMore(const Advice& a, const Advice& b) {
  if (a.kind == AdviceKind::kBind && b.kind == AdviceKind::kPinThreads) return false;
  if (!a.gain || !b.gain || a.gain->of_latency != b.gain->of_latency) return false;
  return a.gain->interval.low > b.gain->interval.high;
}

}  // namespace

// No sort: that two overlap with a third does not make them equal, so this is a partial order only.
// Always the first is taken that none of the others must come before; they are a handful.
void PutBestFirst(std::vector<Advice>& advice, const Prediction& now) {
  const auto before = [&now](const Advice& a, const Advice& b) {
    const int rank = RankOf(a, now);
    const int other = RankOf(b, now);
    return rank != other ? rank < other : GainsMore(a, b);
  };
  for (auto next = advice.begin(); next != advice.end(); ++next) {
    const auto best = std::find_if(next, advice.end(), [&](const Advice& candidate) {
      return std::none_of(next, advice.end(),
                          [&](const Advice& other) { return before(other, candidate); });
    });
    if (best != advice.end()) std::rotate(next, best, best + 1);
  }
}

}  // namespace memagent::viewer
