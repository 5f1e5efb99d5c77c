#include "inject/run_summary.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "agent/profile/reader_placement.h"

namespace memagent::inject {
namespace {

using profile::Profile;

constexpr std::string_view kPrefix = "memagent: ";

// "1234567" as "1,234,567".
std::string Grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string Counted(uint64_t number, const std::string& noun) {
  return Grouped(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string EngineText(const v1::Header& header) {
  for (const v1::Engine& engine : header.engines()) {
    if (!engine.in_use()) continue;
    std::string name = v1::Engine_Kind_Name(engine.kind());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return tolower(c); });
    if (engine.rate_hz() > 0) {
      return name + ", " + Grouped(static_cast<uint64_t>(engine.rate_hz())) +
             " samples/s per thread";
    }
    return name + ", period " + Grouped(engine.period()) + " " + engine.period_unit();
  }
  return "none";
}

// Names in a profile come from files: none may steer the terminal.
std::string Printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return text;
}

// The path as one would type it here: relative when below the working directory.
std::string Typed(const std::string& path) {
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string() + "/";
  std::string shown = path.starts_with(folder) ? path.substr(folder.size()) : path;
  if (shown.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_-+=./:@%,") == std::string::npos) {
    return shown;
  }
  std::string quoted = "'";
  for (char c : shown) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::optional<RunReport::Line> ParseLine(std::string_view line, std::string_view word) {
  if (!line.starts_with(word) || line.substr(word.size(), 1) != "\t") return std::nullopt;
  line.remove_prefix(word.size() + 1);
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos || tab + 1 == line.size()) return std::nullopt;
  RunReport::Line result;
  const auto [end, error] = std::from_chars(line.data(), line.data() + tab, result.pid);
  if (error != std::errc{} || end != line.data() + tab || result.pid <= 0) return std::nullopt;
  result.text = line.substr(tab + 1);
  return result;
}

void AddOnce(std::vector<RunReport::Line>& lines, RunReport::Line line) {
  const auto same = [&](const RunReport::Line& other) {
    return other.pid == line.pid && other.text == line.text;
  };
  if (std::none_of(lines.begin(), lines.end(), same)) lines.push_back(std::move(line));
}

std::string WhyNoProfile(const RunReport& report, pid_t pid, const std::string& why_not) {
  if (!why_not.empty()) return why_not;
  for (const RunReport::Line& problem : report.problems) {
    if (problem.pid == pid) return problem.text;
  }
  return "the agent did not start in this program; it may have been killed at once, or have "
         "cleared "
         "its environment before starting the program that matters.";
}

std::string NothingMeasured(const std::string& why) {
  return std::string(kPrefix) + "nothing was measured: " + why + "\n" + std::string(kPrefix) +
         "no profile was written\n" + std::string(kPrefix) + "next: memagent check\n";
}

}  // namespace

RunReport ParseRunReport(std::string_view text) {
  RunReport report;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (auto profile = ParseLine(line, "profile")) AddOnce(report.profiles, *profile);
    if (auto problem = ParseLine(line, "problem")) AddOnce(report.problems, *problem);
  }
  return report;
}

const RunReport::Line* ProfileOf(const RunReport& report, pid_t pid) {
  const RunReport::Line* found = nullptr;
  for (const RunReport::Line& line : report.profiles) {
    if (line.pid == pid) found = &line;
  }
  return found;
}

std::string MeasuredText(const Profile& profile) {
  const v1::Accounting& accounting = profile.accounting;
  const auto sampled =
      std::count_if(profile.sites.begin(), profile.sites.end(),
                    [](const auto& site) { return site.second.total.samples() > 0; });
  uint64_t dropped = 0;
  for (const v1::ReasonCount& reason : accounting.dropped()) dropped += reason.count();
  std::string text = Counted(accounting.samples_seen(), "sample");
  if (accounting.samples_seen() > 0) {
    char share[32];
    snprintf(share, sizeof(share), "%.1f",
             100.0 * static_cast<double>(accounting.attributed()) /
                 static_cast<double>(accounting.samples_seen()));
    text += ", " + std::string(share) + " % of them on " +
            Counted(static_cast<uint64_t>(sampled), "site") + ", " + Grouped(dropped) + " lost";
  }
  return text + "; engine " + EngineText(profile.header);
}

std::string PlacementLinesText(const Profile& profile) {
  std::string text;
  for (const v1::AppliedPlacement& placement : profile.applied_placements) {
    text += std::string(kPrefix) + (profile::WasApplied(placement) ? "" : "warning: ") +
            Printable(profile::PlacementText(placement)) + "\n";
  }
  return text;
}

std::string OptionLinesText(const Profile& profile) {
  std::string text;
  for (const v1::Event& event : profile.events) {
    if (event.code() != "option_ignored") continue;
    text += std::string(kPrefix) + "warning: " + Printable(event.text()) + "\n";
  }
  return text;
}

std::string SummaryText(const RunReport& report, pid_t pid, const std::string& why_not) {
  const RunReport::Line* line = ProfileOf(report, pid);
  if (line == nullptr && !report.profiles.empty()) line = &report.profiles.back();
  if (line == nullptr) return NothingMeasured(WhyNoProfile(report, pid, why_not));
  const profile::LoadResult loaded = profile::LoadProfile(line->text);
  const std::string measured = loaded.profile ? MeasuredText(*loaded.profile)
                                              : "the profile cannot be read: " + loaded.problem;
  const size_t others = report.profiles.size() - 1;
  const std::string path = Typed(line->text);
  std::string text = std::string(kPrefix) + measured + "\n";
  if (loaded.profile)
    text += PlacementLinesText(*loaded.profile) + OptionLinesText(*loaded.profile);
  text += std::string(kPrefix) + "profile " + path;
  if (others > 0) text += " (and " + Counted(others, "profile") + " of other programs it started)";
  return text + "\n" + std::string(kPrefix) + "next: memagent report " + path + "\n";
}

}  // namespace memagent::inject
