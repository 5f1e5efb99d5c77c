// Where the loader enters the agent.
#include <errno.h>

#include "agent/runtime/session.h"

namespace {

// A program starts with errno 0 (C17 7.5); looking for libraries leaves something else.
[[gnu::constructor(101)]] void Load() {
  const int error = errno;
  memagent::runtime::StartSession();
  errno = error;
}

[[gnu::destructor(101)]] void Unload() { memagent::runtime::EndSession("exit"); }

}  // namespace

// For a program that wants a profile up to now (also found with dlsym): returns when it is written.
extern "C" [[gnu::visibility("default")]] void memagent_checkpoint() {
  memagent::runtime::EndSession("stopped");
}
