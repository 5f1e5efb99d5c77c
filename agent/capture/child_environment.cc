#include "agent/capture/child_environment.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "agent/base/syscall.h"

namespace memagent::capture {
namespace {

constexpr std::string_view kPreload = "LD_PRELOAD=";
constexpr std::string_view kAgentFile = "libmemagent.so";

bool IsAgent(std::string_view entry) {
  const size_t slash = entry.rfind('/');
  if (slash != std::string_view::npos) entry.remove_prefix(slash + 1);
  return entry == kAgentFile;
}

// Calls visit(entry) for each entry of a LD_PRELOAD list.
template <typename Visit>
void ForEachEntry(std::string_view list, Visit visit) {
  while (!list.empty()) {
    const size_t end = list.find_first_of(": ");
    const std::string_view entry = list.substr(0, end);
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    if (!entry.empty()) visit(entry);
  }
}

bool IsReadable(std::string_view entry) {
  char path[1024];
  if (entry.find('/') == std::string_view::npos || entry.size() >= sizeof(path)) return true;
  memcpy(path, entry.data(), entry.size());
  path[entry.size()] = '\0';
  return base::Syscall(SYS_faccessat, AT_FDCWD, path, R_OK) == 0;
}

}  // namespace

size_t WithoutAgent(std::string_view list, char* out) {
  size_t length = 0;
  ForEachEntry(list, [&](std::string_view entry) {
    if (IsAgent(entry)) return;
    if (length > 0) out[length++] = ':';
    memcpy(out + length, entry.data(), entry.size());
    length += entry.size();
  });
  out[length] = '\0';
  return length;
}

EnvironmentSize MeasureEnvironment(char* const* environment) {
  EnvironmentSize size;
  for (; environment != nullptr && *environment != nullptr; ++environment, ++size.strings) {
    const std::string_view entry = *environment;
    if (entry.starts_with(kPreload)) size.text_bytes += entry.size() + 1;
  }
  return size;
}

bool AgentIsReadable(char* const* environment) {
  bool readable = true;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view variable = *environment;
    if (!variable.starts_with(kPreload)) continue;
    ForEachEntry(variable.substr(kPreload.size()), [&](std::string_view entry) {
      readable = readable && (!IsAgent(entry) || IsReadable(entry));
    });
  }
  return readable;
}

void BuildEnvironment(char* const* environment, char** strings, char* text) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (!entry.starts_with(kPreload)) {
      *strings++ = *environment;
      continue;
    }
    memcpy(text, kPreload.data(), kPreload.size());
    const size_t length = WithoutAgent(entry.substr(kPreload.size()), text + kPreload.size());
    if (length == 0) continue;
    *strings++ = text;
    text += kPreload.size() + length + 1;
  }
  *strings = nullptr;
}

}  // namespace memagent::capture
