// Threads: a new thread registers itself, so that its first access is seen, and then runs the
// program's function by a tail call: no frame of ours stays on its stack, nothing of ours runs when
// it ends. The drain thread learns of the end from the kernel.
#include <errno.h>
#include <pthread.h>

#include "agent/base/arena.h"
#include "agent/base/free_list.h"
#include "agent/capture/hooks.h"

namespace memagent::capture {
namespace {

struct StartArguments {
  void* (*function)(void*);
  void* argument;
  StartArguments* next_free;
};

constinit base::FreeList<StartArguments> free_arguments;

StartArguments* TakeArguments() {
  StartArguments* arguments = free_arguments.Pop();
  if (arguments != nullptr) return arguments;
  return static_cast<StartArguments*>(base::ArenaAllocate(sizeof(StartArguments)));
}

void* StartThread(void* raw) {
  auto* arguments = static_cast<StartArguments*>(raw);
  void* (*function)(void*) = arguments->function;
  void* argument = arguments->argument;
  free_arguments.Push(arguments);
  RecordThreadStart();
  return function(argument);
}

}  // namespace
}  // namespace memagent::capture

using namespace memagent::capture;  // NOLINT: the hooks below are C functions

MEMAGENT_HOOK int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                 void* (*function)(void*), void* argument) {
  if (!RealReady() || real.pthread_create == nullptr) return EAGAIN;
  StartArguments* arguments = Recording() ? TakeArguments() : nullptr;
  if (arguments == nullptr) return real.pthread_create(thread, attributes, function, argument);
  arguments->function = function;
  arguments->argument = argument;
  const int error = real.pthread_create(thread, attributes, StartThread, arguments);
  if (error != 0) free_arguments.Push(arguments);
  return error;
}
