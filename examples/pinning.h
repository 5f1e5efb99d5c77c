// NUMA nodes and pinning for the examples, without libnuma.
#ifndef MEMAGENT_EXAMPLES_PINNING_H_
#define MEMAGENT_EXAMPLES_PINNING_H_

#include <sched.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace examples {

struct Node {
  int number = 0;
  cpu_set_t cpus = {};
};

// The CPUs of a list such as "0-3,8" that this process may run on.
inline cpu_set_t ParseCpus(const std::string& list) {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  const char* at = list.c_str();
  int first = 0;
  int length = 0;
  while (sscanf(at, "%d%n", &first, &length) == 1) {
    at += length;
    int last = first;
    if (sscanf(at, "-%d%n", &last, &length) == 1) at += length;
    for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &cpus);
    }
    if (*at == ',') ++at;
  }
  return cpus;
}

// The nodes with CPUs that this process may run on, ascending; one without CPUs where the kernel
// tells nothing.
inline std::vector<Node> NodesWithCpus() {
  constexpr int kMostNodes = 1024;
  std::vector<Node> nodes;
  for (int number = 0; number < kMostNodes; ++number) {
    std::ifstream file("/sys/devices/system/node/node" + std::to_string(number) + "/cpulist");
    std::string list;
    if (!file || !std::getline(file, list)) continue;
    const cpu_set_t cpus = ParseCpus(list);
    if (CPU_COUNT(&cpus) > 0) nodes.push_back({number, cpus});
  }
  if (nodes.empty()) nodes.emplace_back();
  return nodes;
}

// The calling thread runs on the CPUs of this node from now on.
inline void PinTo(const Node& node) {
  if (CPU_COUNT(&node.cpus) > 0) sched_setaffinity(0, sizeof node.cpus, &node.cpus);
}

inline void SayWhatCanBeSeen(const char* program, const std::vector<Node>& nodes) {
  if (nodes.size() > 1) return;
  printf("%s: one NUMA node: everything is near, so the fault costs nothing here\n", program);
}

// Ends after so many seconds.
class Deadline {
 public:
  explicit Deadline(int seconds)
      : end_(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)) {}
  bool IsOver() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  std::chrono::steady_clock::time_point end_;
};

}  // namespace examples

#endif  // MEMAGENT_EXAMPLES_PINNING_H_
