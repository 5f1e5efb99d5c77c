// Memory on chosen NUMA nodes and where pages really are, by the kernel's calls alone (no libnuma,
// and nothing of the agent's): what the tests in a guest hold the agent's answers against.
#ifndef MEMAGENT_TESTS_SYSTEM_PROGRAMS_NUMA_MEMORY_H_
#define MEMAGENT_TESTS_SYSTEM_PROGRAMS_NUMA_MEMORY_H_

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace numa_memory {

inline constexpr size_t kPageBytes = 4096;

[[noreturn]] inline void Die(const char* what) {
  perror(what);
  exit(1);
}

// Nodes are numbered without gaps in our guests.
inline int NodeCount() {
  int count = 0;
  while (access(("/sys/devices/system/node/node" + std::to_string(count)).c_str(), F_OK) == 0) {
    ++count;
  }
  return count;
}

// -1 when there is none: our guests have one CPU a node, in the order of their numbers.
inline int FirstCpuOf(int node) {
  std::ifstream file("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist");
  int cpu = -1;
  file >> cpu;
  return file ? cpu : -1;
}

inline void PinTo(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0) Die("sched_setaffinity");
}

// Gives the pages a policy and drops those that are there already: before MADV_NOHUGEPAGE took
// effect a neighbour may have got a huge page that reaches into ours. `mode` is MPOL_BIND, ....
inline void Place(void* start, size_t bytes, int mode, uint64_t nodes) {
  if (madvise(start, bytes, MADV_NOHUGEPAGE) != 0) Die("MADV_NOHUGEPAGE");
  if (syscall(SYS_mbind, start, bytes, mode, &nodes, 64, 0) != 0) Die("mbind");
  if (madvise(start, bytes, MADV_DONTNEED) != 0) Die("MADV_DONTNEED");
}

// For each page its node, or a negative errno: -ENOENT and -EFAULT mean that it is not present.
// Empty when the call is refused.
inline std::vector<int> NodesOf(const void* start, size_t bytes) {
  const size_t count = bytes / kPageBytes;
  std::vector<const void*> pages(count);
  for (size_t i = 0; i < count; ++i) pages[i] = static_cast<const char*>(start) + i * kPageBytes;
  std::vector<int> nodes(count);
  const long result = syscall(SYS_move_pages, 0, count, pages.data(), nullptr, nodes.data(), 0);
  if (result != 0) return {};
  return nodes;
}

}  // namespace numa_memory

#endif  // MEMAGENT_TESTS_SYSTEM_PROGRAMS_NUMA_MEMORY_H_
