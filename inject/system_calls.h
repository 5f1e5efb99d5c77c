// Which of the system calls that NUMA tools need get through to the kernel here: seccomp filters
// can't be read, and containers' profiles refuse several (facts: perf_abi 8.2).
#ifndef MEMAGENT_INJECT_SYSTEM_CALLS_H_
#define MEMAGENT_INJECT_SYSTEM_CALLS_H_

#include <string>
#include <vector>

namespace memagent::inject {

struct SystemCallFinding {
  std::string name;
  std::string purpose;  // what of memagent needs it
  bool allowed = false;
  std::string verdict;  // "allowed", "refused (EPERM)", "kills"
  std::string remedy;   // one sentence, "" when allowed
};

// Each is called with arguments that do nothing, by a child of its own: a filter may kill for it.
std::vector<SystemCallFinding> ProbeSystemCalls();

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_SYSTEM_CALLS_H_
