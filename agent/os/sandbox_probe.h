// Whether a seccomp filter that was there before us kills for calls of ours, as systemd's
// SystemCallFilter= does (perf_event_open is in its @debug, mbind and move_pages are in
// @resources): a filter can't be read, and the first such call would be the program's last.
//
// Each question lets a child process try the calls (0.2 to 1 ms) when a filter is in force, and is
// answered at once when none is. The program can't see the child: it runs no handler of the
// program's, sends no signal at its end, and only wait calls that ask for clones would find it.
//
// Calling thread: the drain thread, or the one that starts the session.
#ifndef MEMAGENT_AGENT_OS_SANDBOX_PROBE_H_
#define MEMAGENT_AGENT_OS_SANDBOX_PROBE_H_

namespace memagent::os {

bool PerfEventsKill();

// What asks for the nodes and policies of pages (page_nodes.h, memory_policy.h).
bool PageQuestionsKill();
// From here on those get EPERM without a system call.
void ForbidPageQuestions();
bool PageQuestionsForbidden();

// What places memory (memory_placement.h). Host threads make these calls, so where no child could
// be made to try them, they count as deadly.
bool PlacementCallsKill();

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_SANDBOX_PROBE_H_
