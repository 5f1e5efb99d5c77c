// Deaths by a signal whose disposition is the default one: the profile is brought up to date first.
//
// The default action kills in the kernel, where nothing of ours runs. So the agent puts a handler
// in place of SIG_DFL, and only of SIG_DFL; it finishes the profile, restores the default and lets
// the signal strike again: same status, same core. What the host can see of it is undone:
// sigaction() and its relatives (hooks_signal.cc) answer what the host had set. A raw rt_sigaction
// by inline assembly and the SigCgt line of /proc/self/status show the handler.
//
// Out of reach: SIGKILL, an overflowed stack without an alternate one, a handler's own stack when
// it is as good as full, process 1 of a pid namespace (the kernel protects it from signals without
// a handler, so it gets none).
#ifndef MEMAGENT_AGENT_CAPTURE_FATAL_SIGNALS_H_
#define MEMAGENT_AGENT_CAPTURE_FATAL_SIGNALS_H_

#include <signal.h>

namespace memagent::capture {

// Puts the handler in place of each default disposition. Calling thread: the constructor's, or the
// one thread of a fork child. `pid` is the process that is to be finished: in any other that shares
// this memory (a vfork child) the handler only lets the signal strike.
void CoverFatalSignals(int pid);

// Restores the dispositions that the host has set, and covers no more.
void UncoverFatalSignals();

// What the host would be told without us: `action`, as the kernel gave it, with our handler
// replaced by the host's own setting.
void ShowAsSetByHost(int number, struct sigaction& action);

using SignalHandler = void (*)(int);
SignalHandler AsSetByHost(SignalHandler handler);

// To be called after the host set `number` back to SIG_DFL. Keeps errno.
void CoverAgain(int number);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_FATAL_SIGNALS_H_
