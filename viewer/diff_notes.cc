#include "viewer/diff_notes.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "viewer/concat.h"
#include "viewer/text.h"

namespace memagent::viewer {
namespace {

uint64_t Attributed(const DiffSide& side) {
  uint64_t sum = 0;
  for (const DiffRun& run : side.runs) {
    if (__builtin_add_overflow(sum, run.view->tally.attributed, &sum)) return UINT64_MAX;
  }
  return sum;
}

std::string BasisText(const Diff& diff, const DiffSide& before, const DiffSide& after,
                      const Terminal& terminal) {
  std::string text =
      Concat("Changes are in points (pts) of ",
             diff.has_latency ? "each run's sampled latency" : "each run's memory samples",
             diff.has_remote ? " and of the site's located samples" : "", ", ",
             terminal.glyphs().plus_minus, " is their 95 % interval");
  if (before.runs.size() + after.runs.size() > 2) {
    return Concat(text, ": from how much the ", before.runs.size(), " and ", after.runs.size(),
                  " runs differ, where sampling does not explain more.");
  }
  Append(text, " from sampling. ",
         diff.tells_clumping
             ? "Samples of a thread count as clumped in time as they were found to be."
             : "Samples are taken as independent: too few single ones are kept to see how clumped "
               "they are.");
  if (diff.threads_moved) {
    text += " Threads ran on other nodes than before: intervals of remote shares allow for it.";
  } else if (diff.has_remote && !diff.comparable.threads) {
    text += " Where the system put threads is not allowed for: they can't be paired.";
  }
  return Concat(text,
                " How much runs differ by themselves only several of them show: BEFORE... --vs "
                "AFTER...");
}

std::string VerdictText(const Diff& diff) {
  std::string text = "Better, worse: beyond chance, of all sites together in 95 of 100 diffs";
  if (!diff.has_latency) text += "; of time only when share and time agree";
  return text + ". Same: any change is under 2 points or a tenth.";
}

std::string MatchText(const Diff& diff, const DiffSide& before, const DiffSide& after) {
  constexpr std::array<std::string_view, kMatchedByCount - 1> kPhrases = {
      "by name", "by call stack", "by the functions in it", "by function"};
  const uint64_t all_before = Attributed(before);
  const uint64_t all_after = Attributed(after);
  const MatchCount& alone = diff.matched[static_cast<size_t>(MatchedBy::kNothing)];
  std::string text = Concat(
      "Matched ", Percent(Share(all_before - alone.samples_before, all_before)), " and ",
      Percent(Share(all_after - alone.samples_after, all_after)), " of the attributed samples:");
  const char* separator = " ";
  for (size_t i = 0; i < kPhrases.size(); ++i) {
    const MatchCount& count = diff.matched[i];
    if (count.sites == 0) continue;
    Append(text, separator, Plural(count.sites, "site"), " ", kPhrases[i], " (",
           PercentNumber(Share(count.samples_before, all_before)), " and ",
           Percent(Share(count.samples_after, all_after)), ")");
    separator = ", ";
  }
  if (diff.moved_lines > 0) Append(text, "; lines had moved in ", diff.moved_lines);
  return Concat(text, "; ", diff.added, " new, ", diff.gone, " gone.");
}

}  // namespace

std::string DiffNotes(const Diff& diff, const DiffSide& before, const DiffSide& after, bool more,
                      const std::vector<std::string>& left_out, const Terminal& terminal) {
  std::vector<std::string> notes;
  if (diff.comparable.shares) {
    notes.push_back(BasisText(diff, before, after, terminal));
    notes.push_back(VerdictText(diff));
  }
  notes.push_back(MatchText(diff, before, after));
  if (more) notes.back() += " All sites: --all.";
  if (!left_out.empty()) {
    std::string columns = "Left out at this width:";
    for (const std::string& column : left_out) Append(columns, " ", column, ",");
    columns.back() = ' ';
    notes.push_back(columns + "(--width 160).");
  }
  std::string text;
  for (const std::string& note : notes) Append(text, Wrap(note, terminal.width, 0), "\n");
  return text;
}

}  // namespace memagent::viewer
