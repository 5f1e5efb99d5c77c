#include "viewer/import/import_command.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <utility>

#include "agent/profile/profile_file.h"
#include "viewer/command_line.h"
#include "viewer/concat.h"
#include "viewer/import/importer.h"
#include "viewer/text.h"

namespace memagent::importer {
namespace {

namespace fs = std::filesystem;
using viewer::Complain;
using viewer::Concat;
using viewer::kExitOk;
using viewer::kExitUsage;

// The file is read into memory, and its samples take about half of that again.
constexpr size_t kMostBytes = size_t{4} << 30;

struct ImportWords {
  std::string input = "perf.data";
  std::string output;
  int32_t pid = 0;  // 0: all
  std::string allocations;
};

void Declare(CLI::App& app, ImportWords& words) {
  app.add_option("FILE", words.input, "What perf record wrote (perf.data); - is stdin");
  app.add_option("-o,--output", words.output,
                 "Profile to write (perf.memagent); nothing is overwritten: numbered if it exists");
  app.add_option("--pid", words.pid, "Only this process (all that were recorded)")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option(
      "--allocations", words.allocations,
      "Log of allocations with the recording's times, to tell blocks apart (docs/CLI.md)");
}

// Says why not on `err`.
std::optional<std::vector<uint8_t>> ReadInput(const std::string& path, std::ostream& err) {
  std::error_code error;
  if (path != "-" && fs::is_directory(path, error)) {
    Complain(err, Concat(path, " is a folder, as perf record --threads makes: record without it."));
    return std::nullopt;
  }
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  std::vector<uint8_t> bytes;
  constexpr size_t kStep = size_t{1} << 20;
  for (size_t got = kStep; got == kStep && bytes.size() <= kMostBytes;) {
    const size_t before = bytes.size();
    bytes.resize(before + kStep);
    in.read(reinterpret_cast<char*>(bytes.data() + before), kStep);
    got = static_cast<size_t>(in.gcount());
    bytes.resize(before + got);
  }
  if (in.bad() || (path != "-" && !file.is_open())) {
    Complain(err, Concat("cannot read ", path, ": check the name and your permissions."));
    return std::nullopt;
  }
  if (bytes.size() > kMostBytes) {
    Complain(err, Concat(path, " is over 4 GiB: record shorter, or with a larger period."));
    return std::nullopt;
  }
  return bytes;
}

// False: says why not on `err`. Without a log there is nothing to do.
bool ReadAllocations(const ImportWords& words, AllocationLog& out, std::ostream& err) {
  const std::string& name = words.allocations;
  if (name.empty()) return true;
  if (name == "-" && words.input == "-") {
    Complain(err, "standard input can't be recording and allocation log both: name a file.");
    return false;
  }
  const std::optional<std::vector<uint8_t>> log = ReadInput(name, err);
  if (!log) return false;
  out = ParseAllocationLog({reinterpret_cast<const char*>(log->data()), log->size()});
  if (!out.events.empty()) return true;
  Complain(err, Concat(name,
                       " has no allocation: lines are TIME PID alloc ADDRESS SIZE [SITE] or "
                       "TIME PID free ADDRESS."));
  return false;
}

// A file that is created with the first chunk: nothing is left behind when there is nothing to
// write.
class OutputFile final : public profile::Sink {
 public:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}

  bool Append(std::span<const char> bytes) override {
    if (!created_) {
      created_ = true;
      if (!file_.Create(fs::absolute(path_).string())) return false;
    }
    return file_.Append(bytes);
  }
  std::string_view name() const { return file_.path(); }
  // The agent's sentence names the agent's option.
  std::string problem() const {
    constexpr std::string_view kOption = "output=";
    std::string text(file_.Sentence());
    if (const size_t at = text.find(kOption); at != std::string::npos) {
      text.replace(at, kOption.size(), "-o");
    }
    return text;
  }

 private:
  std::string path_;
  bool created_ = false;
  profile::ProfileFile file_;
};

// Relative to the current folder where it is in it, as it was asked for.
std::string ShownName(std::string_view path) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const fs::path file(path);
  return !error && file.parent_path() == here ? file.filename().string() : file.string();
}

void PrintSummary(const ImportResult& result, const std::string& profile, std::ostream& out) {
  const std::string name = viewer::Printable(profile, viewer::Charset::kUtf8);
  out << name << ": ";
  if (result.samples > 0) {
    out << viewer::Plural(result.samples, "sample") << " of " << result.event;
  }
  if (result.faults > 0) {
    out << (result.samples > 0 ? ", " : "") << viewer::Plural(result.faults, "page fault");
  }
  out << ", " << viewer::Plural(result.threads, "thread") << "\nNext:  memagent report " << name
      << '\n';
}

}  // namespace

std::string DefaultOutput(std::string_view input) {
  if (input == "-") input = "perf.data";
  const size_t slash = input.rfind('/');
  if (slash != std::string_view::npos) input.remove_prefix(slash + 1);
  if (input.ends_with(".data")) input.remove_suffix(5);
  return Concat(input, ".memagent");
}

int ImportCommand(std::vector<std::string> args, std::ostream& out, std::ostream& err) {
  ImportWords words;
  CLI::App app("Reads what perf mem record wrote into a profile: code, latency, level, node.",
               "memagent import");
  Declare(app, words);
  if (const auto code = viewer::ParseWords(app, std::move(args), out, err)) return *code;
  const std::optional<std::vector<uint8_t>> bytes = ReadInput(words.input, err);
  if (!bytes) return kExitUsage;
  ImportOptions options;
  if (words.pid != 0) options.pid = words.pid;
  if (!ReadAllocations(words, options.allocations, err)) return kExitUsage;
  OutputFile file(words.output.empty() ? DefaultOutput(words.input) : words.output);
  const std::string name = words.input == "-" ? "standard input" : words.input;
  const ImportResult result = ImportPerfData(*bytes, name, options, file);
  for (const std::string& note : result.notes) Complain(err, note);
  if (!result.problem.empty() || !result.stored) {
    Complain(err, result.problem.empty() ? file.problem() : result.problem);
    return kExitUsage;
  }
  PrintSummary(result, ShownName(file.name()), out);
  return kExitOk;
}

}  // namespace memagent::importer
