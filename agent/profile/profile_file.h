// The profile on disk: a Sink that creates one file, appends to it and never touches another.
//
// Mode 0600 whatever the umask; no symbolic link is followed and nothing is overwritten (a number
// is added to the name). The first failure ends the writing for good: a chunk is either whole in
// the file or not in it, and problem() says once what happened; a file without any chunk is
// removed. Raw system calls only.
//
// Calling thread: the drain thread. A thread with another descriptor table (the exiting thread,
// when the drain thread is gone) calls ForgetDescriptor() first; the file is then opened again by
// name, and only written to when it is still the same file.
#ifndef MEMAGENT_AGENT_PROFILE_PROFILE_FILE_H_
#define MEMAGENT_AGENT_PROFILE_PROFILE_FILE_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "agent/base/containers.h"
#include "agent/os/file.h"
#include "agent/profile/chunk_writer.h"
#include "agent/profile/output_name.h"

namespace memagent::profile {

// The most a profile may take on disk.
inline constexpr uint64_t kMaxProfileBytes = uint64_t{64} << 20;

class ProfileFile final : public Sink {
 public:
  ProfileFile() = default;
  ProfileFile(const ProfileFile&) = delete;
  ProfileFile& operator=(const ProfileFile&) = delete;
  ~ProfileFile() = default;

  // Creates the file; `path` is absolute (ExpandPattern). False: see problem().
  bool Create(std::string_view path);

  // Appends all of `bytes` or nothing.
  bool Append(std::span<const char> bytes) override;

  // Rewriting, used when checkpoints have grown the file: after BeginRewrite appends go to a new
  // file beside the old one; EndRewrite puts it in the old one's place in one step. Killed in
  // between, the old file is still whole. The caller writes everything anew (writer StartOver).
  bool BeginRewrite();
  bool EndRewrite();

  // Makes the file another user's, before the process becomes that user: later it may have to be
  // opened again. Where that is refused (the caller is not root) the file stays as it is.
  void GiveTo(uid_t user, gid_t group);

  // Closes the descriptor; the next Append, or Open, opens the file again.
  void Close() { fd_.Reset(); }
  void Open();
  // The descriptor belongs to another table: it is not ours to close.
  void ForgetDescriptor() { fd_.Release(), replaced_fd_.Release(); }

  // The name really used; empty before Create.
  std::string_view path() const { return path_; }
  // Bytes in the file now, and all bytes ever written, rewrites included.
  uint64_t size_bytes() const { return identity_.size_bytes; }
  uint64_t written_bytes() const { return written_bytes_; }
  uint32_t rewrites() const { return rewrites_; }

  FileProblem problem() const { return problem_; }
  // The problem as one sentence; empty when there is none.
  base::String Sentence() const { return Describe(problem_, error_, path_); }

 private:
  // Which file is ours. The size is part of it: inode numbers are used again.
  struct Identity {
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t size_bytes = 0;
    bool operator==(const Identity&) const = default;
  };
  static Identity IdentityOf(const struct stat& facts);

  bool Stop(FileProblem problem, int error = 0);
  bool Stop(long negative_errno);
  void RemoveWhenEmpty();
  bool TryCreate(const base::String& path);
  bool Reopen();
  bool HasRoomFor(size_t bytes);
  // Bytes written, or a negative errno after at least one byte failed.
  long WriteAll(std::span<const char> bytes);
  const base::String& current_path() const { return temporary_.empty() ? path_ : temporary_; }

  base::String path_;
  base::String temporary_;  // not empty: between BeginRewrite and EndRewrite
  os::UniqueFd fd_;
  Identity identity_;         // of the file that is appended to
  Identity replaced_;         // of the old file during a rewrite,
  os::UniqueFd replaced_fd_;  // held open so that its inode number stays taken
  uint64_t written_bytes_ = 0;
  uint32_t rewrites_ = 0;
  FileProblem problem_ = FileProblem::kNone;
  int error_ = 0;
};

}  // namespace memagent::profile

#endif  // MEMAGENT_AGENT_PROFILE_PROFILE_FILE_H_
