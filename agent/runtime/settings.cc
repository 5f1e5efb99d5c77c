#include "agent/runtime/settings.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "agent/base/syscall.h"
#include "agent/capture/placement.h"
#include "agent/capture/real_symbols.h"
#include "agent/ledger/allocation_sampler.h"
#include "agent/ledger/shadow_map.h"
#include "agent/os/file.h"
#include "agent/profile/output_name.h"
#include "agent/runtime/placement_file.h"

namespace memagent::runtime {
namespace {

// Calls visit(entry) for each "NAME=value" of the environment.
template <typename Visit>
void ForEachVariable(Visit visit) {
  if (environ != nullptr) {
    for (char** entry = environ; *entry != nullptr; ++entry) visit(std::string_view(*entry));
    return;
  }
  const auto text = os::ReadWholeFile("/proc/self/environ", size_t{2} << 20);
  if (!text) return;
  std::string_view rest = *text;
  while (!rest.empty()) visit(os::TakeUntil(rest, '\0'));
}

void Keep(base::OptionString& field, std::string_view value) {
  if (value.size() >= sizeof(field.text)) value = value.substr(0, sizeof(field.text) - 1);
  memcpy(field.text, value.data(), value.size());
  field.text[value.size()] = '\0';
}

void Append(char (&text)[256], size_t& length, std::string_view part) {
  const size_t room = sizeof(text) - 1 - length;
  const size_t n = part.size() < room ? part.size() : room;
  memcpy(text + length, part.data(), n);
  length += n;
  text[length] = '\0';
}

void Note(Settings& settings, std::string_view option, std::string_view what,
          std::string_view reason) {
  if (settings.problem_count == std::size(settings.problems)) return;
  char(&text)[256] = settings.problems[settings.problem_count++].text;
  size_t length = 0;
  for (std::string_view part :
       {std::string_view("option \""), option.substr(0, 80), what, reason, std::string_view(".")}) {
    Append(text, length, part);
  }
}

void NoteIgnored(void* context, std::string_view pair, std::string_view reason) {
  Note(*static_cast<Settings*>(context), pair, "\" was ignored: ", reason);
}

// Brings a number into its range and says so.
void Limit(Settings& settings, std::string_view name, uint64_t& value, uint64_t low,
           uint64_t high) {
  if (value >= low && value <= high) return;
  value = value < low ? low : high;
  Note(settings, name,
       "\" was changed: ", "it is out of range, the nearest allowed number is used");
}

void MakePowerOfTwo(Settings& settings, std::string_view name, uint64_t& value) {
  if (value == 0 || std::has_single_bit(value)) return;
  value = std::bit_floor(value);
  Note(settings, name, "\" was changed: ", "the next smaller power of two is used");
}

// "1", "0.5", "2.25%" as a share; nullopt for anything else.
std::optional<double> ParsePercent(std::string_view text) {
  if (text.ends_with('%')) text.remove_suffix(1);
  double value = 0;
  double unit = 0;  // of the next digit behind the point
  size_t digits = 0;
  for (const char c : text) {
    if (c == '.' && unit == 0) {
      unit = 0.1;
      continue;
    }
    if (c < '0' || c > '9' || ++digits > 6) return std::nullopt;
    value = unit == 0 ? value * 10 + (c - '0') : value + unit * (c - '0');
    if (unit != 0) unit /= 10;
  }
  if (digits == 0) return std::nullopt;
  return value / 100;
}

void ReadBudget(Settings& settings) {
  const std::string_view text = settings.options.budget.view();
  if (text.empty() || text == "0") return;
  const auto share = ParsePercent(text);
  if (share && *share > 0 && *share <= 1) {
    settings.budget_share = *share;
  } else {
    Note(settings, "budget", "\" was ignored: ", "the value must be a percentage up to 100");
  }
}

void LimitNumbers(Settings& settings) {
  base::Options& options = settings.options;
  Limit(settings, "ring_pages", options.ring_pages, 1, 4096);
  Limit(settings, "drain_interval", options.drain_interval, 1, 1000);
  Limit(settings, "checkpoint", options.checkpoint, 0, 86400);
  Limit(settings, "raw_samples", options.raw_samples, 0, 1000000);
  Limit(settings, "fault_period", options.fault_period, 0, uint64_t{1} << 32);
  if (options.sample_bytes > 1) {  // 1 is every block, as 0 is
    Limit(settings, "sample_bytes", options.sample_bytes, ledger::kLeastCost,
          uint64_t{1} << ledger::kMaxMeanLog2);
  }
  MakePowerOfTwo(settings, "ring_pages", options.ring_pages);
  MakePowerOfTwo(settings, "sample_bytes", options.sample_bytes);
}

// Rules are in force. A block that is left out by chance can't be placed.
void TrackWhatIsPlaced(Settings& settings) {
  uint64_t& mean = settings.options.sample_bytes;
  if (mean <= ledger::kLargeBlock) return;
  mean = ledger::kLargeBlock;
  Note(settings, "sample_bytes",
       "\" was changed: ", "blocks of 16 KiB and more are tracked, since rules place them");
}

bool TakeVariable(std::string_view entry, std::string_view name, std::string_view& value) {
  if (entry.size() <= name.size() || !entry.starts_with(name) || entry[name.size()] != '=') {
    return false;
  }
  value = entry.substr(name.size() + 1);
  return true;
}

// The parent runs under the agent too: then this process is somebody's child program.
bool ParentHasAgent() {
  char path[64] = "/proc/";
  const long parent = base::Syscall(SYS_getppid);
  char* end = std::to_chars(path + 6, path + 32, parent).ptr;
  memcpy(end, "/maps", 6);
  const auto maps = os::ReadWholeFile(path, size_t{8} << 20);
  return maps && std::string_view(*maps).find("/libmemagent.so") != std::string_view::npos;
}

}  // namespace

bool MaySpeak(const Settings& settings) {
  return settings.run_report.view().empty() && !ParentHasAgent();
}

base::String OutputFolderProblem(const base::Options& options) {
  const std::string_view pattern = options.output.view();
  const size_t slash = pattern.rfind('/');
  base::String folder(slash == std::string_view::npos ? "." : pattern.substr(0, slash + 1));
  if (folder.find('%') != base::String::npos) return {};
  const long error = base::Syscall(SYS_faccessat, AT_FDCWD, folder.c_str(), W_OK | X_OK);
  if (error == 0) return {};
  const auto problem = profile::ProblemOf(static_cast<int>(-error));
  return profile::Describe(problem, static_cast<int>(-error), pattern);
}

void ReadSettings(Settings& settings) {
  bool off = false;
  ForEachVariable([&](std::string_view entry) {
    std::string_view value;
    if (TakeVariable(entry, "MEMAGENT_OPTIONS", value)) {
      Keep(settings.effective, value);
    } else if (TakeVariable(entry, "MEMAGENT_RUN_REPORT", value)) {
      Keep(settings.run_report, value);
    } else if (TakeVariable(entry, "LD_PRELOAD", value)) {
      settings.under_valgrind = value.find("/vgpreload_") != std::string_view::npos;
    } else if (TakeVariable(entry, "MEMAGENT", value)) {
      off = value == "off" || value == "0";
    }
  });
  base::ParseOptions(settings.effective.view(), settings.options, NoteIgnored, &settings);
  LimitNumbers(settings);
  ReadBudget(settings);
  if (getauxval(AT_SECURE) != 0) {
    settings.mode = Mode::kSecure;
  } else if (off) {
    settings.mode = Mode::kOff;
  } else if (capture::SanitizerLoaded()) {
    settings.mode = Mode::kSanitizer;
  } else if (settings.options.follow.view() != "exec" && ParentHasAgent()) {
    settings.mode = Mode::kNotFollowed;
  }
  if (settings.mode == Mode::kOn && !settings.options.place.view().empty()) {
    const auto note = [](void* context, std::string_view what, std::string_view reason) {
      Note(*static_cast<Settings*>(context), what, "\" is not followed: ", reason);
    };
    LoadPlacementFile(settings.options.place.text, note, &settings);
    if (capture::IsPlacing()) TrackWhatIsPlaced(settings);
  }
}

}  // namespace memagent::runtime
