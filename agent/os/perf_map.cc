#include "agent/os/perf_map.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "agent/base/syscall.h"
#include "agent/os/file.h"

namespace memagent::os {
namespace {

using base::Syscall;

constexpr size_t kPieceBytes = size_t{64} << 10;
constexpr size_t kMostBytes = size_t{64} << 20;
constexpr size_t kLongestLine = 1024;

// Anybody may put a file of this name into /tmp.
bool IsBelieved(int fd) {
  struct stat facts = {};
  if (Syscall(SYS_fstat, fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  return facts.st_uid == 0 || facts.st_uid == static_cast<uid_t>(Syscall(SYS_geteuid));
}

UniqueFd OpenMap(int32_t pid) {
  const base::String path = JoinPath("/tmp/perf-", "", static_cast<uint64_t>(pid), ".map");
  UniqueFd fd(Syscall(SYS_openat, AT_FDCWD, path.c_str(),
                      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0));
  if (fd.valid() && !IsBelieved(fd.get())) fd.Reset();
  return fd;
}

void Name(const PerfMapLine& line, std::span<const uint64_t> addresses,
          base::Vector<FunctionName>& names) {
  auto it = std::lower_bound(addresses.begin(), addresses.end(), line.start);
  for (; it != addresses.end() && *it - line.start < line.size_bytes; ++it) {
    names[static_cast<size_t>(it - addresses.begin())] = {base::String(line.name),
                                                          *it - line.start};
  }
}

}  // namespace

std::optional<PerfMapLine> ParsePerfMapLine(std::string_view line) {
  const auto start = ParseUnsigned(TakeUntil(line, ' '), 16);
  const auto size = ParseUnsigned(TakeUntil(line, ' '), 16);
  const std::string_view name = Trim(line);
  if (!start || !size || name.empty()) return std::nullopt;
  return PerfMapLine{*start, *size, name};
}

base::Vector<FunctionName> ReadPerfMap(int32_t pid, std::span<const uint64_t> addresses) {
  base::Vector<FunctionName> names(addresses.size());
  if (addresses.empty()) return names;
  const UniqueFd fd = OpenMap(pid);
  if (!fd.valid()) return names;
  base::String text;
  for (size_t read = 0; read < kMostBytes;) {
    const size_t kept = text.size();
    text.resize(kept + kPieceBytes);
    const long got = ReadUpTo(fd.get(), text.data() + kept, kPieceBytes);
    if (got <= 0) break;
    text.resize(kept + static_cast<size_t>(got));
    read += static_cast<size_t>(got);
    std::string_view rest = text;
    while (rest.find('\n') != std::string_view::npos) {
      if (const auto line = ParsePerfMapLine(TakeUntil(rest, '\n').substr(0, kLongestLine))) {
        Name(*line, addresses, names);
      }
    }
    text = rest.size() > kLongestLine ? base::String() : base::String(rest);
  }
  return names;
}

}  // namespace memagent::os
