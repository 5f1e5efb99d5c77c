// Where the loader enters the agent.
#include <cxxabi.h>
#include <errno.h>

#include "agent/runtime/session.h"

namespace {

// Weak: musl has none, and there a missing function ends the program before main.
extern "C" [[gnu::weak]] int __cxa_at_quick_exit(void (*)(void*), void*);

void AtExit(void*) { memagent::runtime::EndSession("exit"); }
void AtQuickExit(void*) { memagent::runtime::EndSession("quick_exit"); }

// Handlers run in the reverse order of their registration. The loader's own, which calls every
// destructor, is registered after a preloaded library's constructor has run: so ours come last, and
// what libraries allocate while they are finished is recorded (pitfalls P38). Bound to no library
// (the null handle), they don't run when ours is.
void ComeLast() {
  abi::__cxa_atexit(AtExit, nullptr, nullptr);
  if (__cxa_at_quick_exit != nullptr) __cxa_at_quick_exit(AtQuickExit, nullptr);
}

// A program starts with errno 0 (C17 7.5); looking for libraries leaves something else.
[[gnu::constructor(101)]] void Load() {
  const int error = errno;
  ComeLast();
  memagent::runtime::StartSession();
  errno = error;
}

}  // namespace

// For a program that wants a profile up to now (also found with dlsym): returns when it is written.
extern "C" [[gnu::visibility("default")]] void memagent_checkpoint() {
  memagent::runtime::EndSession("stopped");
}
