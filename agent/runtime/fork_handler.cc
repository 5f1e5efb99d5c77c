#include "agent/runtime/fork_handler.h"

// What pthread_atfork, which is linked into each object, calls (Linux Standard Base, libc). Weak:
// musl has none, and a missing function kills the program there before it starts.
extern "C" {
int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* object);
extern void* __dso_handle;
}
#pragma weak __register_atfork

namespace memagent::runtime {

bool OnGlibc() { return __register_atfork != nullptr; }

void RegisterForkHandler(void (*in_child)()) {
  __register_atfork(nullptr, nullptr, in_child, &__dso_handle);
}

}  // namespace memagent::runtime
