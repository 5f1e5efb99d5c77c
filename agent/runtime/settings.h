// Whether a session runs in this process, and how: from the environment, read once.
//
// Calling thread: the one that runs the constructor, or the forking thread's child.
#ifndef MEMAGENT_AGENT_RUNTIME_SETTINGS_H_
#define MEMAGENT_AGENT_RUNTIME_SETTINGS_H_

#include <cstddef>
#include <cstdint>

#include "agent/base/containers.h"
#include "agent/base/options.h"

namespace memagent::runtime {

enum class Mode : uint8_t {
  kOn,
  kOff,        // MEMAGENT=off
  kSecure,     // set-uid or file capabilities: never active there
  kSanitizer,  // AddressSanitizer or its kin is in the process: nothing of ours may call libc there
  kNotFollowed,  // option follow=: a child program that is not to be profiled
  kOtherLibc     // the drain thread is built for glibc's threads
};

struct OptionProblem {
  char text[256] = {};  // one sentence
};

struct Settings {
  Mode mode = Mode::kOn;
  base::Options options;
  double budget_share = 0;       // of the program's CPU time; 0: no budget
  base::OptionString effective;  // MEMAGENT_OPTIONS as given
  base::OptionString
      run_report;  // $MEMAGENT_RUN_REPORT: where to announce a profile once its file exists
  bool under_valgrind = false;  // which runs no thread with a descriptor table of its own
  OptionProblem problems[8] = {};
  size_t problem_count = 0;
  bool output_problem_said = false;
};

// Fills `settings` from the environment. `environ` may not be set yet (preinit, pitfalls P03): then
// /proc/self/environ is read.
void ReadSettings(Settings& settings);

// Whether the agent may write a line on stderr: only in the program that the user started (a
// child's stderr may be somebody's input), and not under `memagent run`, which speaks itself. Reads
// the parent's maps, about 100 us.
bool MaySpeak(const Settings& settings);

// The sentence about a folder of output= that is not there or can't be written; empty when it is
// good or its name depends on the process (a "%" in it).
base::String OutputFolderProblem(const base::Options& options);

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_SETTINGS_H_
