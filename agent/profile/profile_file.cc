#include "agent/profile/profile_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <utility>

#include "agent/base/syscall.h"

namespace memagent::profile {
namespace {

using base::Syscall;

constexpr uint32_t kMaxNumber = 9999;  // numbered names tried before giving up
constexpr uint32_t kMaxTemporaries = 9;
constexpr long kFileMode = 0600;  // addresses and arguments of the program are its owner's business
constexpr int kOpenFlags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW;

long CreateExclusive(const base::String& path) {
  return Syscall(SYS_openat, AT_FDCWD, path.c_str(), kOpenFlags | O_CREAT | O_EXCL, kFileMode);
}

long StatDescriptor(int fd, struct stat& facts) { return Syscall(SYS_fstat, fd, &facts); }

long StatName(const base::String& path, struct stat& facts) {
  return Syscall(SYS_newfstatat, AT_FDCWD, path.c_str(), &facts, AT_SYMLINK_NOFOLLOW);
}

// What the name leads to: /dev/stdout is a link, and no place for a profile.
long StatTarget(const base::String& path, struct stat& facts) {
  return Syscall(SYS_newfstatat, AT_FDCWD, path.c_str(), &facts, 0);
}

void Unlink(const base::String& path) { Syscall(SYS_unlinkat, AT_FDCWD, path.c_str(), 0); }

// RLIMIT_FSIZE. Writing past it would raise SIGXFSZ, so it is asked before every write.
uint64_t FileSizeLimit() {
  struct rlimit limit = {};
  if (Syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, nullptr, &limit) != 0) return RLIM_INFINITY;
  return limit.rlim_cur;
}

}  // namespace

ProfileFile::Identity ProfileFile::IdentityOf(const struct stat& facts) {
  return Identity{facts.st_dev, facts.st_ino, static_cast<uint64_t>(facts.st_size)};
}

bool ProfileFile::Stop(FileProblem problem, int error) {
  if (problem_ == FileProblem::kNone) {
    problem_ = problem;
    error_ = error;
  }
  if (!temporary_.empty()) {
    Unlink(temporary_);
    temporary_.clear();
  } else {
    RemoveWhenEmpty();
  }
  fd_.Reset();
  replaced_fd_.Reset();
  return false;
}

// A file that not even the first chunk fitted in tells nobody anything.
void ProfileFile::RemoveWhenEmpty() {
  struct stat facts = {};
  if (!fd_.valid() || identity_.size_bytes != 0) return;
  if (StatName(path_, facts) == 0 && IdentityOf(facts) == identity_) Unlink(path_);
}

bool ProfileFile::Stop(long negative_errno) {
  const int error = static_cast<int>(-negative_errno);
  return Stop(ProblemOf(error), error);
}

// True when `path` could be created; problem_ is set when trying another name is pointless.
bool ProfileFile::TryCreate(const base::String& path) {
  const long fd = CreateExclusive(path);
  if (fd < 0) {
    struct stat facts = {};
    if (fd != -EEXIST) return Stop(fd);
    if (StatTarget(path, facts) == 0 && !S_ISREG(facts.st_mode)) {
      return Stop(FileProblem::kNotAFile);
    }
    return false;
  }
  fd_.Reset(static_cast<int>(fd));
  struct stat facts = {};
  if (const long result = StatDescriptor(fd_.get(), facts); result < 0) return Stop(result);
  if ((facts.st_mode & 0777) != kFileMode) {  // the umask: without the owner's bits no Reopen
    if (const long result = Syscall(SYS_fchmod, fd_.get(), kFileMode); result < 0)
      return Stop(result);
  }
  identity_ = IdentityOf(facts);
  return true;
}

bool ProfileFile::Create(std::string_view path) {
  path_ = base::String(path);
  for (uint32_t number = 0; number <= kMaxNumber; ++number) {
    const base::String name = NumberedName(path, number);
    if (TryCreate(name)) {
      path_ = name;
      return true;
    }
    if (problem_ != FileProblem::kNone) return false;
  }
  return Stop(FileProblem::kNoFreeName);
}

bool ProfileFile::Reopen() {
  const long fd = Syscall(SYS_openat, AT_FDCWD, current_path().c_str(), kOpenFlags, 0);
  if (fd == -ENOENT) return Stop(FileProblem::kReplaced);
  if (fd < 0) return Stop(fd);
  fd_.Reset(static_cast<int>(fd));
  struct stat facts = {};
  if (const long result = StatDescriptor(fd_.get(), facts); result < 0) return Stop(result);
  if (IdentityOf(facts) != identity_) return Stop(FileProblem::kReplaced);
  return true;
}

void ProfileFile::Open() {
  if (problem_ == FileProblem::kNone && !path_.empty() && !fd_.valid()) Reopen();
}

bool ProfileFile::HasRoomFor(size_t bytes) {
  if (identity_.size_bytes + bytes > kMaxProfileBytes) return Stop(FileProblem::kTooBig);
  if (identity_.size_bytes + bytes > FileSizeLimit()) return Stop(FileProblem::kSizeLimit);
  return true;
}

long ProfileFile::WriteAll(std::span<const char> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const long result = Syscall(SYS_write, fd_.get(), bytes.data() + done, bytes.size() - done);
    if (result == -EINTR) continue;
    if (result < 0) return result;
    if (result == 0) return -ENOSPC;  // a regular file never does this; not worth a loop
    done += static_cast<size_t>(result);
  }
  return static_cast<long>(done);
}

bool ProfileFile::Append(std::span<const char> bytes) {
  if (problem_ != FileProblem::kNone || path_.empty()) return false;
  if (!fd_.valid() && !Reopen()) return false;
  if (!HasRoomFor(bytes.size())) return false;
  const long result = WriteAll(bytes);
  if (result < 0) {
    Syscall(SYS_ftruncate, fd_.get(), identity_.size_bytes);  // no half chunk stays behind
    return Stop(result);
  }
  identity_.size_bytes += bytes.size();
  written_bytes_ += bytes.size();
  return true;
}

void ProfileFile::GiveTo(uid_t user, gid_t group) {
  if (path_.empty() || (!fd_.valid() && !Reopen())) return;
  base::Syscall(SYS_fchown, fd_.get(), user, group);
}

bool ProfileFile::BeginRewrite() {
  if (problem_ != FileProblem::kNone || path_.empty() || !temporary_.empty()) return false;
  replaced_ = identity_;
  replaced_fd_ = std::move(fd_);
  const base::String base = path_ + ".new";
  for (uint32_t number = 0; number <= kMaxTemporaries; ++number) {
    const base::String name = NumberedName(base, number);
    if (TryCreate(name)) {
      temporary_ = name;
      return true;
    }
    if (problem_ != FileProblem::kNone) return false;
  }
  return Stop(FileProblem::kNoFreeName);
}

bool ProfileFile::EndRewrite() {
  if (temporary_.empty()) return false;
  struct stat facts = {};
  const long found = StatName(path_, facts);
  if (found == 0 && IdentityOf(facts) != replaced_) return Stop(FileProblem::kReplaced);
  const long result =
      Syscall(SYS_renameat2, AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), 0);
  if (result < 0) return Stop(result);
  temporary_.clear();
  replaced_fd_.Reset();
  ++rewrites_;
  return true;
}

}  // namespace memagent::profile
