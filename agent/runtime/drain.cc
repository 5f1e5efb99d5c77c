#include "agent/runtime/drain.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <new>
#include <utility>

#include "agent/base/arena.h"
#include "agent/base/syscall.h"
#include "agent/capture/recorder.h"
#include "agent/ledger/shadow_map.h"
#include "agent/runtime/drain_loop.h"
#include "agent/runtime/raw_thread.h"

namespace memagent::runtime {
namespace {

// One loop for each process; a child of fork makes its own in fresh memory.
DrainLoop* MakeLoop(SessionControl& control) {
  void* memory = base::MapPages((sizeof(DrainLoop) + 4095) & ~size_t{4095}, base::MemoryUse::kDrain);
  return memory == nullptr ? nullptr : new (memory) DrainLoop(control);
}

// The loader at work in the host is not to be sampled, and the loop finds the decoder loaded.
void AwaitHost(SessionControl& control) {
  constexpr int kMillis = 50;
  for (int i = 0; i < kMillis && control.host_ready.load(std::memory_order_acquire) == 0; ++i) {
    FutexWait(control.host_ready, 0, 1'000'000);
  }
}

[[noreturn]] void ExitThread(int status) {
  while (true) base::Syscall(SYS_exit, status);
}

}  // namespace

void RunDrain(void* argument) {
  auto& control = *static_cast<SessionControl*>(argument);
  CloseAllDescriptors();
  base::Syscall(SYS_prctl, 15 /* PR_SET_NAME */, "memagent");
  control.ready.store(1, std::memory_order_release);
  FutexWakeAll(control.ready);
  auto* loop = static_cast<DrainLoop*>(control.loop);
  if (loop != nullptr) {
    loop->Resume();
  } else {
    EarlyFacts early = capture::ReadEngineFacts();
    AwaitHost(control);
    loop = MakeLoop(control);
    if (loop == nullptr) ExitThread(0);
    control.loop = loop;
    loop->Start(std::move(early));
  }
  control.ready.store(2, std::memory_order_release);
  FutexWakeAll(control.ready);
  ExitThread(loop->Run());
}

void FinishInline(SessionControl& control) {
  auto* loop = static_cast<DrainLoop*>(control.loop);
  // A drain thread that was killed left descriptor numbers that mean something else in this thread's
  // table: then what it wrote last has to do. One that paused has closed everything.
  if (loop != nullptr && !control.loop_is_idle.load(std::memory_order_acquire)) return;
  if (loop == nullptr) {
    loop = MakeLoop(control);
    if (loop == nullptr) return;
    control.loop = loop;
    control.loop_is_idle.store(true, std::memory_order_release);
    loop->StartWithoutEvents();
  }
  loop->Finish(control.end_how.load(std::memory_order_acquire));
}

}  // namespace memagent::runtime
