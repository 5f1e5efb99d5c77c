// --fail-if of `memagent diff`: conditions under which the command fails, for use in tests of a
// program.
//
//   EXPRESSION := WHAT "." COLUMN (">" | "<") CHANGE        'S*.remote>+5'
//               | WHAT ".verdict" ("=" | "!=") WORD         '*.verdict=worse'
//   WHAT       := "total" | an id of BEFORE ("S1") or a function's name, "*" stands for any text
//   COLUMN     := "remote" | "share" | "latency_share"      CHANGE in percentage points
//               | "time" | "latency" | "wall"               CHANGE in per cent of BEFORE
//   CHANGE     := ("+" | "-") number
//
// A condition on a number holds only when the whole interval of the change lies beyond it; with a
// "*" it is the wider interval that verdicts go by. So chance alone fails one of 20 unchanged
// programs at most.
#ifndef MEMAGENT_VIEWER_FAIL_IF_H_
#define MEMAGENT_VIEWER_FAIL_IF_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/diff.h"

namespace memagent::viewer {

struct FailCondition {
  enum class Column { kRemote, kShare, kLatencyShare, kTime, kLatency, kWall, kVerdict };

  std::string text;  // as it was written
  std::string what;
  Column column = Column::kRemote;
  bool above = true;     // ">"; of a verdict "="
  double threshold = 0;  // a part of 1
  std::string word;      // of a verdict
};

// Either a condition, or in one sentence why it is none.
struct ParsedCondition {
  std::optional<FailCondition> condition;
  std::string problem;
};
ParsedCondition ParseFailCondition(std::string_view text);

struct FailOutcome {
  std::vector<std::string> failures;  // a sentence each; names as recorded (not yet printable)
  std::vector<std::string> unjudged;  // changes that can't be judged, a sentence each
  std::string problem;  // not empty: the condition can't be used on this diff; one sentence
};
FailOutcome CheckFailCondition(const FailCondition& condition, const Diff& diff);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_FAIL_IF_H_
