#include "agent/runtime/session.h"

#include <errno.h>
#include <time.h>

#include <algorithm>

#include "agent/base/private_heap.h"
#include "agent/base/syscall.h"
#include "agent/capture/drain_wake.h"
#include "agent/capture/fatal_signals.h"
#include "agent/capture/placement.h"
#include "agent/capture/process_events.h"
#include "agent/capture/real_symbols.h"
#include "agent/capture/recorder.h"
#include "agent/capture/thread_start.h"
#include "agent/ledger/cost_meter.h"
#include "agent/ledger/placement_calls.h"
#include "agent/ledger/shadow_map.h"
#include "agent/ledger/site_table.h"
#include "agent/ledger/thread_state.h"
#include "agent/os/clock.h"
#include "agent/os/zydis_library.h"
#include "agent/runtime/drain.h"
#include "agent/runtime/fork_handler.h"
#include "agent/runtime/host_message.h"
#include "agent/runtime/raw_thread.h"

namespace memagent::runtime {
namespace {

constinit Settings settings;
constinit SessionControl control;
constinit std::atomic<bool> started{false};

// How long unshare waits for the drain thread to be gone: a checkpoint may be under way.
constexpr int kPauseMillis = 1000;

constexpr std::string_view kSanitizerText =
    "The program is built with a sanitizer, which must own malloc, so it runs unmeasured; build it "
    "without -fsanitize to profile it.";

int32_t Pid() { return static_cast<int32_t>(base::Syscall(SYS_getpid)); }

bool SoftwareEnginePossible() {
  const std::string_view engine = settings.options.engine.view();
  return engine == "auto" || engine == "software";
}

// At the start, because many programs have closed their stderr when the profile would be written.
void SayOutputProblem() {
  const base::String problem = OutputFolderProblem(settings.options);
  if (problem.empty() || !MaySpeak(settings)) return;
  settings.output_problem_said = true;
  SayOnStderr(problem);
}

// Waits until the drain thread is ready, or gone, for at most `millis`.
void WaitReady(uint32_t stage, uint64_t millis) {
  for (uint64_t waited = 0; waited < millis; ++waited) {
    const uint32_t ready = control.ready.load(std::memory_order_acquire);
    if (ready >= stage) return;
    FutexWait(control.ready, ready, 1'000'000);
  }
}

// Without a drain thread allocations are counted and written at the end, nothing is sampled.
bool LaunchDrain() {
  control.ready.store(0);
  capture::SetStartsAwaited(!settings.under_valgrind);  // until the drain thread knows better
  const long tid =
      settings.under_valgrind ? -ENOSYS : StartRawThread(RunDrain, &control, control.drain_tid);
  if (tid <= 0) capture::SetStartsAwaited(false);
  return tid > 0;
}

// `stage`: how far the drain thread must be before the host goes on.
void StartDrain(uint32_t stage) {
  if (LaunchDrain()) WaitReady(stage, 50);
}

void SayProblems() {
  if (settings.problem_count > 0 && MaySpeak(settings)) {
    for (size_t i = 0; i < settings.problem_count; ++i) SayOnStderr(settings.problems[i].text);
  }
  SayOutputProblem();
}

// While the drain thread reads facts, a host thread, which alone may do it, lets the loader fetch the
// decoder (0.2 ms). What that allocates is no event of the program that gets lost, and what it
// accesses is not to be sampled. The private heap is the drain thread's meanwhile.
void LoadDecoder() {
  ledger::thread_state.depth += ledger::kForwarding;
  if (SoftwareEnginePossible()) os::LoadZydis();
  ledger::thread_state.depth -= ledger::kForwarding;
  control.host_ready.store(1, std::memory_order_release);
  FutexWakeAll(control.host_ready);
}

void Nap() {
  const timespec pause = {0, 1'000'000};
  base::Syscall(SYS_nanosleep, &pause, nullptr);
}

// Whether the caller now decides about the drain thread: that it is away, or who works in its
// place.
bool TakeLoop() { return !control.loop_taken.exchange(true, std::memory_order_acq_rel); }
void GiveLoop() { control.loop_taken.store(false, std::memory_order_release); }

// Waits for a thread that brings the drain thread back. False when it stays away.
bool AwaitLoop() {
  for (int millis = 0; millis < kPauseMillis; ++millis) {
    if (TakeLoop()) return true;
    if (control.drain_tid.load(std::memory_order_acquire) == 0) return false;
    Nap();
  }
  return false;
}

// Ends the drain thread and waits until the kernel no longer counts it. False when there is none,
// or when another thread has sent it away and will bring it back.
bool PauseDrain() {
  if (control.pid != Pid() || !AwaitLoop()) return false;
  const int32_t tid = control.drain_tid.load(std::memory_order_acquire);
  if (tid == 0) {
    GiveLoop();
    return false;
  }
  control.pause_requested.store(true, std::memory_order_release);
  capture::WakeDrain();
  for (int millis = 0; millis < kPauseMillis; ++millis) {
    if (base::Syscall(SYS_tgkill, control.pid, tid, 0) == -ESRCH) break;
    Nap();
  }
  return true;
}

void ResumeDrain() {
  control.pause_requested.store(false, std::memory_order_release);
  StartDrain(2);
  GiveLoop();
}

// Two threads may come here at once: each field then holds what the kernel said last, and the last
// request is served last.
void FollowCredentials() {
  if (control.pid != Pid() || control.drain_tid.load(std::memory_order_acquire) == 0) return;
  ReadCredentials(control.credentials);
  control.credentials_request.Await(kPauseMillis);
}

void FollowCode() {
  if (control.pid != Pid() || control.drain_tid.load(std::memory_order_acquire) == 0) return;
  ++ledger::thread_state.depth;
  control.code_changes.Announce();
  --ledger::thread_state.depth;
}

bool KeepFromChildren() { return settings.options.follow.view() != "exec"; }

// What a budget made of the rate in the parent is not the child's.
void ApplySampleBytes() {
  const uint64_t asked = std::max<uint64_t>(1, settings.options.sample_bytes);
  capture::SetSampleBytes(static_cast<uint32_t>(asked));
}

void CoverSignals() {
  if (settings.options.signals.view() == "finish") capture::CoverFatalSignals(control.pid);
}

void AfterForkInChild();

constexpr capture::ProcessEvents kEvents = {EndSession, EndSessionDying,  KeepFromChildren,
                                            PauseDrain, ResumeDrain,      FollowCredentials,
                                            FollowCode, AfterForkInChild, CoverSignals};

// Asks the drain thread to finish and waits for it.
void AskToFinish(uint32_t request, uint64_t millis) {
  capture::WakeDrain();
  for (uint64_t waited = 0; waited < millis; waited += 10) {
    const uint32_t done = control.end_done.load(std::memory_order_acquire);
    if (done >= request || control.drain_tid.load(std::memory_order_acquire) == 0) break;
    FutexWait(control.end_done, done, 10'000'000);
  }
}

// Brings the profile up to date, in the drain thread or in its place.
void Finish(uint32_t request) {
  for (uint64_t waited = 0; waited < kEndMillis; ++waited) {
    if (control.drain_tid.load(std::memory_order_acquire) != 0) {
      AskToFinish(request, kEndMillis);
      if (control.drain_tid.load(std::memory_order_acquire) != 0) return;
    } else if (TakeLoop()) {
      FinishInline(control);
      control.end_done.store(request, std::memory_order_release);
      GiveLoop();
      return;
    }
    Nap();
  }
}

// Whether this process has a session to end. Without events it is in a sandbox that may kill for
// our calls, or not followed.
bool HasSession() {
  return capture::process_events.load(std::memory_order_acquire) != nullptr && control.pid == Pid();
}

uint32_t RequestEnd(const char* how) {
  control.end_how.store(how, std::memory_order_release);
  return control.end_requested.fetch_add(1, std::memory_order_acq_rel) + 1;
}

// fork copies only the calling thread: locks don't exist, rings are not inherited (VM_DONTCOPY, and
// descriptors are the drain thread's own), the parent's file is not ours.
void AfterForkInChild() {
  // In a sandbox no system call of ours may be made, in its children neither.
  if (capture::process_events.load(std::memory_order_acquire) == nullptr) return;
  ++ledger::thread_state.depth;
  ledger::SetHistoryWanted(false);
  ledger::ForgetCosts();
  control.start_cpu_nanos.store(0, std::memory_order_relaxed);
  ledger::ForgetThreadsOfParent(Pid(), ledger::thread_state.record);
  ledger::InheritLiveBlocks();
  ledger::ForgetPlacementCalls();
  ledger::thread_state.record = nullptr;
  ledger::thread_state.creation = {};
  base::HeapReset();
  capture::SetStartsAwaited(false);
  capture::ForgetExpectedThreads();
  capture::ForgetPlacementCounts();
  control.pid = Pid();
  control.forked = true;
  control.drain_tid.store(0);
  control.loop = nullptr;
  control.loop_is_idle.store(false);
  control.loop_taken.store(false);
  control.end_done.store(control.end_requested.load());
  control.pause_requested.store(false);
  --ledger::thread_state.depth;
  if (settings.options.follow.view() == "no") {
    capture::process_events.store(nullptr);
    capture::SetRecording(false);
    capture::UncoverFatalSignals();
    return;
  }
  ApplySampleBytes();
  CoverSignals();
  capture::CurrentThread();
  // Most children execute something at once: they wait for their descriptors to be theirs alone,
  // not for events.
  StartDrain(1);
}

}  // namespace

void StartSession() {
  if (started.exchange(true)) return;
  const uint64_t before = os::ThreadCpuNanos();
  capture::ResolveRealSymbols();
  // What the loader allocates for us is no event of the program that gets lost.
  ledger::thread_state.depth += ledger::kForwarding;
  RememberStderr();
  ReadSettings(settings);
  if (!OnGlibc()) settings.mode = Mode::kOtherLibc;
  if (settings.mode != Mode::kOn) {
    capture::SetRecording(false);
    if (settings.mode == Mode::kSanitizer && MaySpeak(settings)) SayOnStderr(kSanitizerText);
    ledger::thread_state.depth -= ledger::kForwarding;
    return;
  }
  SayProblems();
  RegisterForkHandler(AfterForkInChild);
  control.pid = Pid();
  control.settings = &settings;
  ApplySampleBytes();
  ledger::thread_state.depth -= ledger::kForwarding;
  capture::CurrentThread();
  capture::process_events.store(&kEvents, std::memory_order_release);
  const bool launched = LaunchDrain();
  LoadDecoder();
  if (launched) WaitReady(2, 50);
  CoverSignals();
  control.start_cpu_nanos.store(os::ThreadCpuNanos() - before, std::memory_order_relaxed);
}

void EndSession(const char* how) {
  if (!HasSession()) return;
  // A child of fork that executes a program before its own events are open has nothing to tell.
  if (control.forked && control.ready.load() < 2 && std::string_view(how) == "exec") return;
  ++ledger::thread_state.depth;
  Finish(RequestEnd(how));
  if (control.announcement[0] != '\0') {
    SayOnStderr(control.announcement);
    control.announcement[0] = '\0';
  }
  --ledger::thread_state.depth;
}

void EndSessionDying(const char* how) {
  if (!HasSession() || control.drain_tid.load(std::memory_order_acquire) == 0) return;
  ++ledger::thread_state.depth;
  AskToFinish(RequestEnd(how), kDyingMillis);
  --ledger::thread_state.depth;
}

}  // namespace memagent::runtime
