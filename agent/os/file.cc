#include "agent/os/file.h"

#include <errno.h>
#include <fcntl.h>

#include <charconv>

#include "agent/base/syscall.h"

namespace memagent::os {
namespace {

using base::Syscall;

constexpr size_t kFirstReadBytes = 4096;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

void UniqueFd::Reset(int fd) {
  if (fd_ >= 0) Syscall(SYS_close, fd_);
  fd_ = fd;
}

UniqueFd OpenRead(const char* path) {
  return UniqueFd(Syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0));
}

long ReadUpTo(int fd, char* buffer, size_t size) {
  size_t done = 0;
  while (done < size) {
    const long got = Syscall(SYS_read, fd, buffer + done, size - done);
    if (got == -EINTR) continue;
    if (got < 0) return got;
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return static_cast<long>(done);
}

std::optional<base::String> ReadFileHead(const char* path, size_t max_bytes) {
  const UniqueFd fd = OpenRead(path);
  if (!fd.valid()) return std::nullopt;
  base::String text;
  size_t step = kFirstReadBytes;
  while (text.size() < max_bytes) {
    const size_t before = text.size();
    const size_t wanted = step < max_bytes - before ? step : max_bytes - before;
    text.resize(before + wanted);
    const long got = ReadUpTo(fd.get(), text.data() + before, wanted);
    if (got < 0) return std::nullopt;
    text.resize(before + static_cast<size_t>(got));
    if (static_cast<size_t>(got) < wanted) break;
    step *= 2;
  }
  return text;
}

std::optional<base::String> ReadWholeFile(const char* path, size_t max_bytes) {
  std::optional<base::String> text = ReadFileHead(path, max_bytes + 1);
  if (text && text->size() > max_bytes) return std::nullopt;
  return text;
}

std::optional<int64_t> ReadNumberFile(const char* path) {
  char buffer[64];
  const UniqueFd fd = OpenRead(path);
  if (!fd.valid()) return std::nullopt;
  const long got = ReadUpTo(fd.get(), buffer, sizeof(buffer));
  if (got <= 0) return std::nullopt;
  const std::string_view text = Trim({buffer, static_cast<size_t>(got)});
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view TakeUntil(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return part;
}

std::optional<uint64_t> ParseUnsigned(std::string_view text, int base) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

base::String JoinPath(std::string_view root, std::string_view path) {
  base::String joined(root);
  joined += path;
  return joined;
}

base::String JoinPath(std::string_view root, std::string_view before, uint64_t number,
                      std::string_view after) {
  char digits[24];
  const auto result = std::to_chars(digits, digits + sizeof(digits), number);
  base::String joined = JoinPath(root, before);
  joined.append(digits, result.ptr);
  joined += after;
  return joined;
}

}  // namespace memagent::os
