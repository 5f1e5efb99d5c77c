#include "viewer/advice_text.h"

#include <algorithm>

#include "viewer/concat.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

constexpr size_t kMostCauses = 3;
constexpr size_t kMostNodes = 8;  // of a list in a sentence

// "nodes 0, 1"
std::string NodeList(const std::vector<int32_t>& nodes) {
  std::string text = nodes.size() == 1 ? "node" : "nodes";
  for (size_t i = 0; i < std::min(nodes.size(), kMostNodes); ++i) {
    Append(text, i == 0 ? " " : ", ", nodes[i]);
  }
  if (nodes.size() > kMostNodes) Append(text, " and ", nodes.size() - kMostNodes, " more");
  return text;
}

std::string WhatToDo(const Advice& advice, const Terminal& terminal) {
  switch (advice.kind) {
    case AdviceKind::kBind:
      return Concat("Bind it to ", NodeList(advice.nodes));
    case AdviceKind::kInterleave:
      return Concat("Interleave it over ", NodeList(advice.nodes));
    case AdviceKind::kBlock:
      return Concat("Put equal parts of it on ", NodeList(advice.nodes), ", in this order");
    case AdviceKind::kTouchInParallel:
      return Concat("Touch it first in parallel: run the loop at ",
                    CodeText(advice.where, terminal),
                    " in the threads that use it, each over its own part");
    case AdviceKind::kTouchByUser:
      return Concat("Let the thread that uses a block touch it first, not ",
                    CodeText(advice.where, terminal), " for all");
    case AdviceKind::kReplicate:
      return "Give each node a copy of it";
    case AdviceKind::kPinThreads:
      return "Pin its threads to nodes";
    case AdviceKind::kSmallPages:
      return "Use small pages for it";
    case AdviceKind::kPadLines:
      return "Put what each thread writes on a cache line of its own (alignas(64))";
    case AdviceKind::kTooFewSamples:
      return "No advice";
    case AdviceKind::kOneNode:
    case AdviceKind::kNothing:
      break;
  }
  return "Nothing to place";
}

std::string_view Measured(const View& view, const Gain& gain) {
  if (gain.of_latency) return "sampled latency";
  return view.engine == "software" ? "sampled memory time" : "memory samples";
}

}  // namespace

std::string WithInterval(double share, const Interval& interval, const Terminal& terminal) {
  return Concat(Percent(share), " (", Fixed(interval.low * 100, 1), terminal.glyphs().dash,
                Fixed(interval.high * 100, 1), ")");
}

std::string AdviceText(const Advice& advice, const Terminal& terminal) {
  return Concat(WhatToDo(advice, terminal), ": ", advice.reason, ".");
}

std::string EffectText(const View& view, const Diagnosis& diagnosis, const Advice& advice,
                       const Terminal& terminal) {
  std::string text;
  const Prediction& now = diagnosis.now;
  if (advice.after) {
    text = Concat("Remote ", Percent(now.remote), " ", terminal.glyphs().becomes, " ",
                  WithInterval(advice.after->remote, advice.after->interval, terminal));
    if (now.distance > 0 && advice.after->distance > 0) {
      Append(text, ", mean distance ", Fixed(now.distance, 1), " ", terminal.glyphs().becomes, " ",
             Fixed(advice.after->distance, 1));
    }
    text += ". ";
  }
  if (!advice.gain && advice.kind == AdviceKind::kInterleave) {
    return text + "What it gains is that several nodes' memory serves it; how much is not known.";
  }
  if (!advice.gain) return text;
  const Gain& gain = *advice.gain;
  return Concat(text, "At most ", WithInterval(gain.share, gain.interval, terminal), " of the ",
                Measured(view, gain), " less.");
}

std::string RuleOf(const SiteView& site, const Advice& advice, const std::string& profile) {
  return Concat(site.id, "@", profile, "=", advice.rule);
}

std::string ProgramWords(const View& view, const Terminal& terminal) {
  const memagent::v1::Process& process = view.profile.header.process();
  if (process.arguments_size() == 0) return terminal.Safe(ShellWord(process.executable()));
  std::string text;
  for (int i = 0; i < process.arguments_size(); ++i) {
    Append(text, i == 0 ? "" : " ", terminal.Safe(ShellWord(process.arguments(i))));
  }
  return text;
}

std::string TryCommand(const View& view, const SiteView& site, const Advice& advice,
                       const std::string& profile, const Terminal& terminal) {
  // What came from standard input is gone: no rule can name it.
  if (advice.rule.empty() || profile == "-") return "";
  // In quotes always: names of files may hold what a shell expands.
  std::string rule = ShellWord(RuleOf(site, advice, profile));
  if (!rule.starts_with('\'')) rule = Concat("'", rule, "'");
  return Concat("memagent run --place ", terminal.Safe(rule), " -- ", ProgramWords(view, terminal));
}

std::vector<std::string> CauseLines(const View& view, const SiteView& site,
                                    const Diagnosis& diagnosis, const Terminal& terminal) {
  std::vector<std::string> lines;
  for (const Cause& cause : diagnosis.causes) {
    if (lines.size() == kMostCauses) break;
    const double share = Share(cause.samples, site.remote_samples);
    std::string line =
        Concat(CausePhrase(cause.kind), " ", WithInterval(share, cause.share, terminal));
    const std::string evidence = CauseEvidence(view, site, cause, terminal);
    if (!evidence.empty()) Append(line, ": ", evidence);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string PatternText(const Pattern& pattern) {
  return Concat(PatternWord(pattern.kind), ": ", pattern.why);
}

}  // namespace memagent::viewer
