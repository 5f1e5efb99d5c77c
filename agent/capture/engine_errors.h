// What an errno of perf_event_open, or of mmap on its descriptor, means, and what to do about it.
//
// One table for the agent's profile, `memagent check` and the tests (facts: perf_abi 1.6, 1.8, 8.2,
// 8.4). Pure data; calling thread: any.
#ifndef MEMAGENT_AGENT_CAPTURE_ENGINE_ERRORS_H_
#define MEMAGENT_AGENT_CAPTURE_ENGINE_ERRORS_H_

#include <cstdint>
#include <string_view>

namespace memagent::capture {

enum class EngineStep : uint8_t { kOpen, kMap };

struct EngineError {
  std::string_view name;     // "EACCES"
  std::string_view meaning;  // one sentence
  std::string_view remedy;   // one sentence
};

// `error` is a positive errno. `perf_event_paranoid` is the sysctl's value: what EACCES means
// depends on it. Never fails: an errno without a row gets a row that says so.
EngineError ExplainEngineError(EngineStep step, int error, int perf_event_paranoid);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_ENGINE_ERRORS_H_
