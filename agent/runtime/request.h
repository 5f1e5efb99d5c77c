// A request of host threads to the drain thread, which serves it between two ticks.
#ifndef MEMAGENT_AGENT_RUNTIME_REQUEST_H_
#define MEMAGENT_AGENT_RUNTIME_REQUEST_H_

#include <atomic>
#include <cstdint>

#include "agent/capture/drain_wake.h"
#include "agent/runtime/raw_thread.h"

namespace memagent::runtime {

class Request {
 public:
  // Makes the request and waits for at most `millis` until it, or a later one, has been served.
  // Calling thread: any host thread.
  void Await(uint64_t millis) {
    const uint32_t mine = wanted_.fetch_add(1, std::memory_order_acq_rel) + 1;
    capture::WakeDrain();
    for (uint64_t waited = 0; waited < millis; ++waited) {
      const uint32_t served = served_.load(std::memory_order_acquire);
      if (served >= mine) return;
      FutexWait(served_, served, 1'000'000);
    }
  }

  // Calls serve() when a request is open. Calling thread: the drain thread.
  template <typename F>
  void Serve(F serve) {
    const uint32_t wanted = wanted_.load(std::memory_order_acquire);
    if (wanted == served_.load(std::memory_order_relaxed)) return;
    serve();
    served_.store(wanted, std::memory_order_release);
    FutexWakeAll(served_);
  }

 private:
  std::atomic<uint32_t> wanted_{0};  // requests so far
  std::atomic<uint32_t> served_{0};  // futex
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_REQUEST_H_
