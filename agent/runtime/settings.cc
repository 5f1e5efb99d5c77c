#include "agent/runtime/settings.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "agent/base/syscall.h"
#include "agent/os/file.h"

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

void NoteProblem(void* context, std::string_view pair, std::string_view reason) {
  auto& settings = *static_cast<Settings*>(context);
  if (settings.problem_count == std::size(settings.problems)) return;
  char(&text)[256] = settings.problems[settings.problem_count++].text;
  size_t length = 0;
  Append(text, length, "option \"");
  Append(text, length, pair.substr(0, 80));
  Append(text, length, "\" was ignored: ");
  Append(text, length, reason);
  Append(text, length, ".");
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
  base::ParseOptions(settings.effective.view(), settings.options, NoteProblem, &settings);
  if (getauxval(AT_SECURE) != 0) {
    settings.mode = Mode::kSecure;
  } else if (off) {
    settings.mode = Mode::kOff;
  } else if (settings.options.follow.view() != "exec" && ParentHasAgent()) {
    settings.mode = Mode::kNotFollowed;
  }
}

}  // namespace memagent::runtime
