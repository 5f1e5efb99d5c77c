// Where the loader enters the agent.
#include "agent/capture/recorder.h"
#include "agent/runtime/session.h"

namespace {

[[gnu::constructor(101)]] void Load() { memagent::runtime::StartSession(); }

[[gnu::destructor(101)]] void Unload() { memagent::runtime::EndSession("exit"); }

}  // namespace

// For a program that wants a profile up to now (also found with dlsym): returns when it is written.
extern "C" [[gnu::visibility("default")]] void memagent_checkpoint() {
  memagent::runtime::EndSession("stopped");
}
