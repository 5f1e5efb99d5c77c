// exec and posix_spawn. Before an image is replaced the profile is brought up to date (pitfalls
// P31); a failed exec goes on as if nothing had been asked. Children run without the agent where
// the option follow= says so.
//
// These may run in a vfork child, which shares the parent's memory: nothing here touches the
// session's state except through process_events, which looks at the pid first.
#include <alloca.h>
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "agent/capture/child_environment.h"
#include "agent/capture/child_program.h"
#include "agent/capture/hooks.h"
#include "agent/capture/process_events.h"
#include "agent/capture/stand_aside.h"

namespace memagent::capture {
namespace {

bool KeepFromChildren() {
  const ProcessEvents* events = Events();
  return events != nullptr && events->keep_from_children();
}

// The program that is to be run, as execve or execvp finds it; nullptr: unknown.
struct Program {
  const char* name;
  bool search_path;
};

bool RunsWithoutUs(const Program& program, char* const* environment) {
  if (KeepFromChildren()) return true;
  if (Events() == nullptr) return false;
  const bool unsuitable =
      program.name != nullptr && ProgramCannotLoadUs(program.name, program.search_path);
  if (!unsuitable && AgentIsReadable(environment)) return false;
  programs_left_alone.store(true, std::memory_order_relaxed);
  return true;
}

// Calls `run(environment)` with the environment that the new program is to get.
template <typename Run>
int WithChildEnvironment(const Program& program, char* const* environment, Run run) {
  const EnvironmentSize size = MeasureEnvironment(environment);
  if (size.text_bytes == 0 || !RunsWithoutUs(program, environment)) return run(environment);
  auto** strings = static_cast<char**>(alloca((size.strings + 1) * sizeof(char*)));
  auto* text = static_cast<char*>(alloca(size.text_bytes + 1));
  BuildEnvironment(environment, strings, text);
  return run(strings);
}

bool IsRefusal(int error) { return error == EAGAIN; }

int Missing() {
  errno = ENOSYS;
  return -1;
}

int Execute(const char* path, char* const* arguments, char* const* environment) {
  if (!RealReady()) return Missing();
  AnnounceEnd("exec");
  return WithChildEnvironment({path, false}, environment,
                              [&](char* const* env) { return real.execve(path, arguments, env); });
}

int ExecuteOnPath(const char* file, char* const* arguments, char* const* environment) {
  if (!RealReady()) return Missing();
  AnnounceEnd("exec");
  return WithChildEnvironment({file, true}, environment,
                              [&](char* const* env) { return real.execvpe(file, arguments, env); });
}

// The headers declare the first argument non-null, and some programs pass null all the same.
bool IsNull(const char* argument) {
  const char* volatile unassumed = argument;
  return unassumed == nullptr;
}

// How many arguments follow `first` before the terminating null pointer.
size_t CountArguments(va_list list) {
  size_t count = 0;
  while (va_arg(list, char*) != nullptr) ++count;
  return count;
}

// Copies `first` and the rest of `list`, terminating null included, into `out`.
void CopyArguments(const char* first, va_list list, size_t rest, char** out) {
  out[0] = const_cast<char*>(first);
  if (IsNull(first)) return;
  for (size_t i = 0; i <= rest; ++i) out[i + 1] = va_arg(list, char*);
}

}  // namespace
}  // namespace memagent::capture

using namespace memagent::capture;  // NOLINT: the hooks below are C functions

// Gathers the variable arguments after `first` into `arguments`; leaves `list` behind the null.
#define MEMAGENT_GATHER(first, list)                                                 \
  va_list list##_count;                                                              \
  va_start(list##_count, first);                                                     \
  const size_t list##_rest = IsNull(first) ? 0 : CountArguments(list##_count);       \
  va_end(list##_count);                                                              \
  auto** arguments = static_cast<char**>(alloca((list##_rest + 2) * sizeof(char*))); \
  va_list list;                                                                      \
  va_start(list, first);                                                             \
  CopyArguments(first, list, list##_rest, arguments)

MEMAGENT_HOOK int execve(const char* path, char* const* arguments, char* const* environment) {
  return Execute(path, arguments, environment);
}

MEMAGENT_HOOK int execv(const char* path, char* const* arguments) {
  return Execute(path, arguments, environ);
}

MEMAGENT_HOOK int execvp(const char* file, char* const* arguments) {
  return ExecuteOnPath(file, arguments, environ);
}

MEMAGENT_HOOK int execvpe(const char* file, char* const* arguments, char* const* environment) {
  return ExecuteOnPath(file, arguments, environment);
}

MEMAGENT_HOOK int execl(const char* path, const char* first, ...) {
  MEMAGENT_GATHER(first, list);
  va_end(list);
  return Execute(path, arguments, environ);
}

MEMAGENT_HOOK int execlp(const char* file, const char* first, ...) {
  MEMAGENT_GATHER(first, list);
  va_end(list);
  return ExecuteOnPath(file, arguments, environ);
}

MEMAGENT_HOOK int execle(const char* path, const char* first, ...) {
  MEMAGENT_GATHER(first, list);
  char* const* environment = va_arg(list, char* const*);
  va_end(list);
  return Execute(path, arguments, environment);
}

MEMAGENT_HOOK int fexecve(int fd, char* const* arguments, char* const* environment) {
  if (!RealReady() || real.fexecve == nullptr) return Missing();
  AnnounceEnd("exec");
  return WithChildEnvironment({nullptr, false}, environment,
                              [&](char* const* env) { return real.fexecve(fd, arguments, env); });
}

MEMAGENT_HOOK int execveat(int folder, const char* path, char* const* arguments,
                           char* const* environment, int flags) {
  if (!RealReady() || real.execveat == nullptr) return Missing();
  AnnounceEnd("exec");
  return WithChildEnvironment({nullptr, false}, environment, [&](char* const* env) {
    return real.execveat(folder, path, arguments, env, flags);
  });
}

MEMAGENT_HOOK int posix_spawn(pid_t* pid, const char* path,
                              const posix_spawn_file_actions_t* actions,
                              const posix_spawnattr_t* attributes, char* const* arguments,
                              char* const* environment) {
  if (!RealReady()) return ENOSYS;
  return WithChildEnvironment({path, false}, environment, [&](char* const* env) {
    return StartAtLimit(
        [=] { return real.posix_spawn(pid, path, actions, attributes, arguments, env); },
        IsRefusal);
  });
}

MEMAGENT_HOOK int posix_spawnp(pid_t* pid, const char* file,
                               const posix_spawn_file_actions_t* actions,
                               const posix_spawnattr_t* attributes, char* const* arguments,
                               char* const* environment) {
  if (!RealReady()) return ENOSYS;
  return WithChildEnvironment({file, true}, environment, [&](char* const* env) {
    return StartAtLimit(
        [=] { return real.posix_spawnp(pid, file, actions, attributes, arguments, env); },
        IsRefusal);
  });
}
