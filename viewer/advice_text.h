// Advice, causes and patterns in words, for report and advise. Results are printable.
#ifndef MEMAGENT_VIEWER_ADVICE_TEXT_H_
#define MEMAGENT_VIEWER_ADVICE_TEXT_H_

#include <string>
#include <vector>

#include "viewer/advice.h"
#include "viewer/terminal.h"

namespace memagent::viewer {

// "Bind it to node 1: node 1 makes 97.3 % of the accesses."
std::string AdviceText(const Advice& advice, const Terminal& terminal);

// "Remote 50.0 % → 0.4 % (0.3–0.6). At most 35.2 points (34.1–36.2) of the memory samples."; "" for
// advice without a prediction.
std::string EffectText(const View& view, const Diagnosis& diagnosis, const Advice& advice,
                       const Terminal& terminal);

// "memagent run --place 'S1@FILE=bind:1' -- ./stencil 4096"; "" when no rule does it. One line,
// whatever its length, to be copied.
std::string TryCommand(const View& view, const SiteView& site, const Advice& advice,
                       const std::string& profile, const Terminal& terminal);

// "S1@FILE=bind:1"
std::string RuleOf(const SiteView& site, const Advice& advice, const std::string& profile);

// "./stencil 4096 -t 4", in words for a shell.
std::string ProgramWords(const View& view, const Terminal& terminal);

// One line each, most samples first: "first touched on another node 97.2 % (96.8–97.6): by ...".
std::vector<std::string> CauseLines(const View& view, const SiteView& site,
                                    const Diagnosis& diagnosis, const Terminal& terminal);
// "blocked: two accesses in one page come from two nodes in ..."
std::string PatternText(const Pattern& pattern);

// "50.0 % (48.8–51.2)"
std::string WithInterval(double share, const Interval& interval, const Terminal& terminal);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_ADVICE_TEXT_H_
