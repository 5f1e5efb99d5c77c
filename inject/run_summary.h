// The lines that end `memagent run`: three, and one for each placement rule and each option that was
// not followed.
#ifndef MEMAGENT_INJECT_RUN_SUMMARY_H_
#define MEMAGENT_INJECT_RUN_SUMMARY_H_

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "agent/profile/reader.h"

namespace memagent::inject {

// What the agents of one run told us through the file that MEMAGENT_RUN_REPORT names. Each agent
// appends a line when it starts a profile, "profile\tPID\tPATH\n", and when it can't,
// "problem\tPID\tSENTENCE\n".
struct RunReport {
  struct Line {
    pid_t pid = 0;
    std::string text;
  };
  std::vector<Line> profiles;  // each path once
  std::vector<Line> problems;
};

// Pure; lines it does not understand are left out.
RunReport ParseRunReport(std::string_view text);

// The profile of process `pid`: the last, as a program may exec another. nullptr when it has none.
const RunReport::Line* ProfileOf(const RunReport& report, pid_t pid);

// First line, without its newline: samples, sites, engine.
std::string MeasuredText(const profile::Profile& profile);

// What became of the placement rules, a line each; "" without rules.
std::string PlacementLinesText(const profile::Profile& profile);

// What the agent could not follow of its options, a warning each.
std::string OptionLinesText(const profile::Profile& profile);

// All lines. `why_not` is the known reason when the program could not be measured.
std::string SummaryText(const RunReport& report, pid_t pid, const std::string& why_not);

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_RUN_SUMMARY_H_
