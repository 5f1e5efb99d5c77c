// Names of profile files: patterns, numbers, sentences about what went wrong. Pure.
// Calling thread: the drain thread (private heap).
#ifndef MEMAGENT_AGENT_PROFILE_OUTPUT_NAME_H_
#define MEMAGENT_AGENT_PROFILE_OUTPUT_NAME_H_

#include <cstdint>
#include <string_view>

#include "agent/base/containers.h"

namespace memagent::profile {

// What a pattern can name. A slash inside a value becomes "_", so that no value adds a folder.
struct OutputFacts {
  std::string_view program;         // %e  name of the executable without its folder
  uint32_t pid = 0;                 // %p
  std::string_view host;            // %h
  uint64_t start_unix_seconds = 0;  // %t
  std::string_view rank;            // %r  MPI rank, "0" when there is none
  std::string_view
      working_directory;  // a relative pattern starts here: the program may chdir later
};

// The absolute path for `pattern`. "%%" is a percent sign; an unknown "%x" stays as it is.
base::String ExpandPattern(std::string_view pattern, const OutputFacts& facts);

// The name tried when the ones before it exist: 0 gives `path` itself, 3 gives "a.3.memagent" for
// "a.memagent" and "b.3" for "b".
base::String NumberedName(std::string_view path, uint32_t number);

// Why a profile could not be created or written on.
enum class FileProblem : uint8_t {
  kNone = 0,
  kNoFolder,     // the folder does not exist
  kNotAllowed,   // no permission, or a read-only file system
  kNotAFile,     // the name is a folder, a device, ...
  kNoFreeName,   // the name and all its numbered variants exist
  kDiskFull,     // or the quota is used up
  kSizeLimit,    // RLIMIT_FSIZE (ulimit -f)
  kTooBig,       // over kMaxProfileBytes
  kReplaced,     // the file of this name is gone or no longer the one we made
  kTooManyOpen,  // no free descriptor
  kOther,
};

// One sentence with cause and remedy, "" for kNone. `error` is the errno behind it.
base::String Describe(FileProblem problem, int error, std::string_view path);

// The problem that an errno (positive) of open, write or rename stands for.
FileProblem ProblemOf(int error);

}  // namespace memagent::profile

#endif  // MEMAGENT_AGENT_PROFILE_OUTPUT_NAME_H_
