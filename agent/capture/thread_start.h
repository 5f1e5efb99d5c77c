// How a new thread and the drain thread meet, so that the thread's events are open before it runs.
//
//   creator:       ExpectThread --> clone
//   drain thread:       '--> awake .... takes the arrival, opens events --> sleeps again
//   new thread:                 registers, waits ----------------------'--> runs
//
// Waking a sleeping CPU takes longer than anything else here (30 to 50 us in a virtual machine), so
// the drain thread is woken before the clone and stays awake until the new thread registers, and a
// new thread that finds it awake spins for a moment: with more than one CPU, no one sleeps on the
// way. When all CPUs are taken, the new thread sleeps and leaves its own to the drain thread.
#ifndef MEMAGENT_AGENT_CAPTURE_THREAD_START_H_
#define MEMAGENT_AGENT_CAPTURE_THREAD_START_H_

#include <cstdint>

#include "agent/base/types.h"

namespace memagent::capture {

// Whether starting threads wait: there is a drain thread, and it can open events. Off at first.
// Calling thread: the drain thread, or the one that starts it.
void SetStartsAwaited(bool awaited);

// Whether who waits may spin first: the process may use more than one CPU. Calling thread: the
// drain thread.
void AllowSpinning(bool allowed);

// A thread is about to be made; each call is answered by one of the other two. Calling thread: the
// creator.
void ExpectThread();
void ForgetExpectedThread();
// The calling thread, made by the one with number `creator`, which set out to do so at `created_tsc`
// (0: not known), starts now: registers it and waits up to kObserveMillis for its events, so that its
// first accesses and page faults are seen.
void RecordThreadStart(uint32_t creator, uint64_t created_tsc = 0);
// The bound is for a machine whose CPUs are all taken. Once such waits have used up their budget
// (0.3 s and 1/20 of the run time) a thread waits kFreeWaitNanos at most.
inline constexpr int kObserveMillis = 20;
inline constexpr Nanos kFreeWaitNanos = 250'000;
// Starts the budget. Calling thread: the drain thread.
void OpenWaitBudget();
// Threads that went on before their events were open.
uint32_t StartsNotObserved();

// Whether the drain thread should stay awake for a thread that is about to register.
bool ThreadExpected();

// In the child of fork: nobody is expected, nothing has been missed.
void ForgetExpectedThreads();

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_THREAD_START_H_
