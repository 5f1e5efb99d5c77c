#include "viewer/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <utility>

#include "viewer/concat.h"
#include "viewer/text.h"

namespace memagent::viewer {
namespace {

namespace fs = std::filesystem;

struct Candidate {
  fs::file_time_type written;
  std::string path;
};

// Newest first, then by name so that the choice does not depend on the folder's order.
std::string NewestProfile() {
  std::vector<Candidate> candidates;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(".", error)) {
    std::error_code problem;
    if (entry.path().extension() != ".memagent" || !entry.is_regular_file(problem)) continue;
    const fs::file_time_type written = entry.last_write_time(problem);
    if (!problem) candidates.push_back({written, entry.path().filename().string()});
  }
  const auto newest = std::max_element(
      candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        return std::pair(a.written, b.path) < std::pair(b.written, a.path);
      });
  return newest == candidates.end() ? "" : newest->path;
}

// A file name that looks like an option can't be taken for one by the reader's messages.
std::string OneLine(std::string_view text) { return Printable(text, Charset::kUtf8); }

}  // namespace

std::optional<int> ParseWords(CLI::App& app, std::vector<std::string> args, std::ostream& out,
                              std::ostream& err) {
  std::reverse(args.begin(), args.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(args));
  } catch (const CLI::CallForHelp&) {
    out << app.help();
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    constexpr size_t kLongest = 160;  // a misplaced "*" can bring in hundreds of names
    const std::string problem = Truncate(error.what(), kLongest, Charset::kUtf8);
    Complain(err, Concat(problem, ": see ", app.get_name(), " --help."));
    return kExitUsage;
  }
  return std::nullopt;
}

void Complain(std::ostream& err, std::string_view text) {
  err << "memagent: " << OneLine(text) << '\n';
}

std::optional<Loaded> LoadForCommand(std::string path, std::ostream& err) {
  if (path.empty()) {
    path = NewestProfile();
    if (path.empty()) {
      Complain(err,
               "there is no *.memagent file in this folder: name one, or make one with "
               "memagent run -- PROGRAM.");
      return std::nullopt;
    }
    Complain(err, Concat("reading ", path, ", the newest profile in this folder."));
  }
  profile::LoadResult result = profile::LoadProfile(path);
  for (const std::string& warning : result.warnings) Complain(err, warning);
  if (!result.profile) {
    Complain(err, result.problem);
    return std::nullopt;
  }
  return Loaded{std::move(*result.profile), std::move(path)};
}

}  // namespace memagent::viewer
