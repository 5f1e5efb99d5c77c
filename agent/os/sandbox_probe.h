// Whether a seccomp filter that was there before us kills for perf_event_open, as systemd's
// SystemCallFilter= does: a filter can't be read, and the first such call would be the program's
// last.
//
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_OS_SANDBOX_PROBE_H_
#define MEMAGENT_AGENT_OS_SANDBOX_PROBE_H_

namespace memagent::os {

// Lets a child process try the call (0.2 to 1 ms) when a filter is in force; false at once when
// none is. The program can't see the child: it sends no signal at its end, and only wait calls that
// ask for clones would find it.
bool PerfEventsKill();

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_SANDBOX_PROBE_H_
