// Names of code that a program made at run time, from the file that JIT compilers write for perf:
// /tmp/perf-PID.map, a line for each piece of code, "START SIZE NAME" in hexadecimal.
//
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_OS_PERF_MAP_H_
#define MEMAGENT_AGENT_OS_PERF_MAP_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "agent/base/containers.h"
#include "agent/os/elf_file.h"

namespace memagent::os {

struct PerfMapLine {
  uint64_t start = 0;
  uint64_t size_bytes = 0;
  std::string_view name;
};

// Pure; nullopt for what is no such line.
std::optional<PerfMapLine> ParsePerfMapLine(std::string_view line);

// The name of each address (sorted): the last line of the map that covers it, since addresses are
// used again. Only a regular file of this user's or root's is believed, up to 64 MiB of it and 1
// KiB of a line; it is read in pieces. `pid` is the one that the program knows itself by.
base::Vector<FunctionName> ReadPerfMap(int32_t pid, std::span<const uint64_t> addresses);

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_PERF_MAP_H_
