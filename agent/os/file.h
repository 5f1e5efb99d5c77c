// Reading small files and owning descriptors, without libc's errno, locks or heap.
//
// Calling thread: the drain thread (or any thread that owns the private heap at the time). Errors
// are negative errno values, as the kernel returns them.
#ifndef MEMAGENT_AGENT_OS_FILE_H_
#define MEMAGENT_AGENT_OS_FILE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "agent/base/containers.h"

namespace memagent::os {

// Owns a descriptor, or holds why there is none: get() is a descriptor or a negative errno.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(long fd_or_error) : fd_(static_cast<int>(fd_or_error)) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) Reset(other.Release());
    return *this;
  }
  ~UniqueFd() { Reset(); }

  bool valid() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // The errno (positive) that opening ended with; 0 when valid.
  int error() const { return fd_ < 0 ? -fd_ : 0; }
  // Gives the descriptor up; the object then holds -EBADF.
  int Release() { return std::exchange(fd_, kNone); }
  // Closes what is owned and takes `fd`.
  void Reset(int fd = kNone);

 private:
  static constexpr int kNone = -9;  // -EBADF
  int fd_ = kNone;
};

// Opens for reading, close-on-exec. `path` ends in NUL.
UniqueFd OpenRead(const char* path);

// Reads until `size` bytes are there, the file ends, or an error: bytes read or negative errno.
// Interrupted reads go on.
long ReadUpTo(int fd, char* buffer, size_t size);

// The whole file; nullopt when it can't be opened or read, or is longer than `max_bytes`. Works for
// files of /proc and /sys, whose size the kernel does not say.
std::optional<base::String> ReadWholeFile(const char* path, size_t max_bytes);

// At most the first `max_bytes` of the file; nullopt when it can't be opened or read.
std::optional<base::String> ReadFileHead(const char* path, size_t max_bytes);

// A file that holds one decimal number and white space ("-1\n"); nullopt for anything else.
std::optional<int64_t> ReadNumberFile(const char* path);

// `text` without white space at both ends.
std::string_view Trim(std::string_view text);

// Takes the part of `text` before the next `separator` (all of it when there is none) and removes
// both from `text`.
std::string_view TakeUntil(std::string_view& text, char separator);

// The whole of `text` as an unsigned number in `base`; nullopt when anything else is in it.
std::optional<uint64_t> ParseUnsigned(std::string_view text, int base = 10);

// "root" + "path", and "root" + "before" + number + "after": names of sysfs files.
base::String JoinPath(std::string_view root, std::string_view path);
base::String JoinPath(std::string_view root, std::string_view before, uint64_t number,
                      std::string_view after);

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_FILE_H_
