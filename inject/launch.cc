#include "inject/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace memagent::inject {
namespace {

constexpr int kOwnFailure = 125;
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;

constexpr std::array kIgnored = {SIGINT, SIGQUIT};
constexpr std::array kPassedOn = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

volatile pid_t g_child = 0;  // read by the signal handler only

void PassOn(int signal) {
  const int saved = errno;
  if (g_child > 0) kill(g_child, signal);
  errno = saved;
}

// Changes the dispositions for as long as it lives. Blocks what it passes on until `Watch`, so that
// no signal falls between fork and the moment the child's pid is known.
class SignalScope {
 public:
  SignalScope() {
    sigset_t blocked;
    sigemptyset(&blocked);
    for (int signal : kPassedOn) sigaddset(&blocked, signal);
    sigprocmask(SIG_BLOCK, &blocked, &mask_);
    for (size_t i = 0; i < kIgnored.size(); ++i) Replace(kIgnored[i], SIG_IGN, ignored_[i]);
    for (size_t i = 0; i < kPassedOn.size(); ++i) Replace(kPassedOn[i], PassOn, passed_[i]);
  }
  ~SignalScope() { Restore(); }
  void Watch(pid_t child) {
    g_child = child;
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  // Also called in the child, where the program must find what we found.
  void Restore() {
    for (size_t i = 0; i < kIgnored.size(); ++i) sigaction(kIgnored[i], &ignored_[i], nullptr);
    for (size_t i = 0; i < kPassedOn.size(); ++i) sigaction(kPassedOn[i], &passed_[i], nullptr);
    g_child = 0;
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  // A signal that we were started with ignored (nohup) stays ignored.
  static void Replace(int signal, void (*handler)(int), struct sigaction& before) {
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) return;
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
  sigset_t mask_ = {};
  std::array<struct sigaction, kIgnored.size()> ignored_ = {};
  std::array<struct sigaction, kPassedOn.size()> passed_ = {};
};

[[noreturn]] void Execute(const std::vector<std::string>& command,
                          const std::vector<Environment>& variables, int error_pipe) {
  for (const Environment& variable : variables) {
    setenv(variable.name.c_str(), variable.value.c_str(), 1);
  }
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(error_pipe, &error, sizeof(error));
  _exit(kOwnFailure);
}

// errno of the child's failed exec; 0 when it succeeded and the pipe closed itself.
int ReadExecError(int pipe) {
  int error = 0;
  ssize_t got;
  do {
    got = read(pipe, &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  return got == sizeof(error) ? error : 0;
}

int WaitStatus(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return kOwnFailure;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

LaunchResult Fail(const std::string& what, int error) {
  LaunchResult result;
  result.problem = what + ": " + strerror(error);  // NOLINT(concurrency-mt-unsafe): one thread
  return result;
}

}  // namespace

std::string FindAgentLibrary(std::string& problem) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<fs::path> candidates;
  const char* named = getenv("MEMAGENT_LIBRARY");  // NOLINT(concurrency-mt-unsafe): one thread
  if (named != nullptr && *named != '\0') {
    candidates = {fs::absolute(named, ignored)};
  } else {
    const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
    for (const char* place : {"agent", "lib/memagent", "lib"}) {
      candidates.push_back(folder / place / "libmemagent.so");
    }
  }
  for (const fs::path& candidate : candidates) {
    if (!fs::exists(candidate, ignored)) continue;
    if (candidate.string().find_first_of(" :") == std::string::npos) return candidate;
    problem = "'" + candidate.string() +
              "' holds a space or colon, which LD_PRELOAD takes for the end "
              "of a name: name a copy elsewhere in MEMAGENT_LIBRARY.";
    return "";
  }
  problem = "'" + candidates.front().string() +
            "' was not found: build the target memagent_so, or name "
            "the library in MEMAGENT_LIBRARY.";
  return "";
}

std::string PreloadValue(const std::string& library, const std::string& present) {
  if (present.empty() || present == library) return library;
  if (present.starts_with(library + ":")) return present;
  return library + ":" + present;
}

LaunchResult Launch(const std::vector<std::string>& command,
                    const std::vector<Environment>& variables) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return Fail("cannot make a pipe", errno);
  SignalScope signals;
  LaunchResult result;
  result.pid = fork();
  if (result.pid < 0) return Fail("cannot fork", errno);
  if (result.pid == 0) {
    signals.Restore();
    Execute(command, variables, pipe_ends[1]);
  }
  signals.Watch(result.pid);
  close(pipe_ends[1]);
  const int error = ReadExecError(pipe_ends[0]);
  close(pipe_ends[0]);
  result.status = WaitStatus(result.pid);
  if (error != 0) {
    result = Fail("cannot run '" + command.front() + "'", error);
    result.status = error == ENOENT ? kNotFound : kCannotRun;
  }
  return result;
}

}  // namespace memagent::inject
