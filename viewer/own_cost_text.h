// What memagent itself cost the program, for people. Results are printable.
#ifndef MEMAGENT_VIEWER_OWN_COST_TEXT_H_
#define MEMAGENT_VIEWER_OWN_COST_TEXT_H_

#include <string>
#include <vector>

#include "viewer/terminal.h"
#include "viewer/view.h"

namespace memagent::viewer {

struct LabelledText {
  std::string label;
  std::string text;
};

// The rows of `info`.
std::vector<LabelledText> OwnCostRows(const View& view, const Terminal& terminal);

// The report's paragraph; "" for a profile without an estimate.
std::string OwnCostText(const View& view, const Terminal& terminal);

// What the agent added to each nanosecond of the program's own CPU time: 0.05 where paired runs
// show x1.05. 0 without an estimate.
double OwnCostShare(const memagent::v1::OwnCost& cost);

// "sampled", "counted", "tried", "assumed", "inferred", "none"
std::string CostBasisWord(memagent::v1::CostPart::Basis basis);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_OWN_COST_TEXT_H_
