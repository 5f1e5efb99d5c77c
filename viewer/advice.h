// What placement of a site's memory would help, and how much at most. Rules with their thresholds
// and formulas: docs/ADVICE.md. Without enough samples, or where nothing would surely help, it says
// so instead.
#ifndef MEMAGENT_VIEWER_ADVICE_H_
#define MEMAGENT_VIEWER_ADVICE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/cause.h"
#include "viewer/pattern.h"
#include "viewer/prediction.h"
#include "viewer/view.h"

namespace memagent::viewer {

enum class AdviceKind {
  kTooFewSamples,
  kOneNode,  // of the machine
  kNothing,
  kBind,
  kInterleave,
  kBlock,
  kTouchInParallel,  // the loop that touches first, in the threads that use it
  kTouchByUser,      // each block by the thread that uses it
  kReplicate,
  kPinThreads,
  kSmallPages,
  kPadLines,
};

struct Advice {
  AdviceKind kind = AdviceKind::kNothing;
  std::vector<int32_t> nodes;  // of bind, interleave and, part by part, of block
  CodeLine where;              // kTouch...: the code that touches first now
  std::string reason;          // a clause for people, ASCII
  std::string rule;            // for `memagent run --place`: "bind:1"; "": no rule does this
  std::optional<Prediction> after;
  std::optional<Gain> gain;

  // Whether it asks for anything to be done.
  bool Helps() const { return kind > AdviceKind::kNothing; }
};

// All that the viewer concludes of one site.
struct Diagnosis {
  Prediction now;
  Pattern pattern;
  std::vector<Cause> causes;
  std::vector<Advice> advice;  // never empty; what would help most comes first
};
Diagnosis Diagnose(const View& view, const SiteView& site);

// "interleave", "touch_in_parallel": used in JSON.
std::string_view AdviceKey(AdviceKind kind);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_ADVICE_H_
