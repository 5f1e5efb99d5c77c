// What may be said about a change: the words of `memagent diff` and when each is used. docs/JSON.md
// tells the user the same.
#ifndef MEMAGENT_VIEWER_VERDICT_H_
#define MEMAGENT_VIEWER_VERDICT_H_

#include <cstdint>
#include <string_view>

#include "viewer/change.h"

namespace memagent::viewer {

enum class Verdict : uint8_t {
  kFixed,             // remote share: it was a fault, and is none any more
  kBetter,            // less, by more than chance
  kWorse,             // more, by more than chance
  kMixed,             // less remote, but more time or latency; or the reverse
  kSame,              // any change is too small to matter: the interval lies within the margin
  kNoClearChange,     // a change that matters is not seen, and not excluded
  kNew,               // not there before
  kGone,              // not there after
  kNotEnoughSamples,  // too few to judge
  kNotComparable,     // the runs were measured in ways that don't compare
};
std::string_view VerdictWord(Verdict verdict);

// Changes of a share within this are the same share.
inline constexpr double kSameShare = 0.02;
// Changes of an amount within this part of what it was are the same amount.
inline constexpr double kSameAmount = 0.1;
// A remote share is a fault that can be fixed when it is surely above the first, and fixed when it
// is surely below the second.
inline constexpr double kFaultShare = 0.1;
inline constexpr double kFixedShare = 0.05;

// Smaller is better. kNotEnoughSamples without an interval.
Verdict JudgeShare(const Change& change);
Verdict JudgeAmount(const Change& change);
// As JudgeShare; or kFixed.
Verdict JudgeRemote(const Change& change);

// Of a part (a site's time) of a whole that may have changed, too: better or worse only when the
// part itself and its share agree. A share alone grows when others shrink; an amount alone grows
// when a run does more, or the machine is slower.
Verdict JudgeCost(const Change& share, const Change& amount);

// One word for both; the other one's where one is kNotEnoughSamples.
Verdict Together(Verdict remote, Verdict cost);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_VERDICT_H_
