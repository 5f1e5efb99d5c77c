// Threads: a new thread registers itself, so that its first access is seen, and then runs the
// program's function by a tail call: no frame of ours stays on its stack, nothing of ours runs when
// it ends. The drain thread learns of the end from the kernel. Processes: only their number matters
// here.
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "agent/base/arena.h"
#include "agent/base/free_list.h"
#include "agent/capture/hooks.h"
#include "agent/capture/recorder.h"
#include "agent/capture/stand_aside.h"
#include "agent/capture/thread_start.h"
#include "agent/ledger/thread_state.h"
#include "agent/os/tsc.h"

namespace memagent::capture {
namespace {

struct StartArguments {
  void* (*function)(void*);
  void* argument;
  uint32_t creator;
  uint64_t created_tsc;
  StartArguments* next_free;
};

constinit base::FreeList<StartArguments> free_arguments;

StartArguments* TakeArguments() {
  StartArguments* arguments = free_arguments.Pop();
  if (arguments != nullptr) return arguments;
  return static_cast<StartArguments*>(base::ArenaAllocate(sizeof(StartArguments)));
}

uint32_t OwnNumber() {
  const ledger::ThreadRecord* record = ledger::thread_state.record;
  return record == nullptr ? ledger::kUnnumbered : record->serial.load(std::memory_order_relaxed);
}

void* StartThread(void* raw) {
  auto* arguments = static_cast<StartArguments*>(raw);
  void* (*function)(void*) = arguments->function;
  void* argument = arguments->argument;
  const uint32_t creator = arguments->creator;
  const uint64_t created_tsc = arguments->created_tsc;
  free_arguments.Push(arguments);
  RecordThreadStart(creator, created_tsc);
  return function(argument);
}

}  // namespace
}  // namespace memagent::capture

using namespace memagent::capture;  // NOLINT: the hooks below are C functions

MEMAGENT_HOOK int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                 void* (*function)(void*), void* argument) {
  if (!RealReady() || real.pthread_create == nullptr) return EAGAIN;
  StartArguments* arguments = Recording() ? TakeArguments() : nullptr;
  const auto refused = [](int error) { return error == EAGAIN; };
  if (arguments == nullptr) {
    return StartAtLimit([=] { return real.pthread_create(thread, attributes, function, argument); },
                        refused);
  }
  arguments->function = function;
  arguments->argument = argument;
  arguments->creator = OwnNumber();
  arguments->created_tsc = memagent::os::ReadTsc();
  ExpectThread();
  const int error = StartAtLimit(
      [=] { return real.pthread_create(thread, attributes, StartThread, arguments); }, refused);
  if (error != 0) {
    ForgetExpectedThread();
    free_arguments.Push(arguments);
  }
  return error;
}

// Recording in the child starts with pthread_atfork (runtime/session.cc).
MEMAGENT_HOOK pid_t fork() {
  if (!RealReady() || real.fork == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  return StartAtLimit([] { return real.fork(); },
                      [](pid_t child) { return child < 0 && errno == EAGAIN; });
}

// For signal handlers, so it runs no fork handlers; since glibc 2.34.
MEMAGENT_HOOK pid_t _Fork() {
  if (!RealReady() || real._Fork == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  return FollowedFork(real._Fork());
}
