// The kernel's list format, "0-3,8,10-11", as in sysfs files of CPUs and NUMA nodes. Pure.
#ifndef MEMAGENT_AGENT_OS_CPU_LIST_H_
#define MEMAGENT_AGENT_OS_CPU_LIST_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/base/containers.h"

namespace memagent::os {

// Numbers at or above this are refused: Linux builds for at most 8192 CPUs (x86 CONFIG_MAXSMP) and
// 1024 nodes, and a damaged file must not cost memory.
inline constexpr uint32_t kMaxListedNumber = 8192;

// Ascending numbers without repeats, as the kernel writes them; a trailing newline is allowed. An
// empty list is good (a node that has memory only). nullopt for everything else.
std::optional<base::Vector<uint32_t>> ParseCpuList(std::string_view text);

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_CPU_LIST_H_
