// A perf.data file: what its header tells of the events and of the machine, and where its records
// are. Pure: from bytes to fields, trusts no offset, size or count.
//
// Both layouts are read: a file, whose header points to sections, and a pipe ("perf record -o -"),
// where the same facts are records. Source: perf.data-file-format.txt of Linux.
#ifndef MEMAGENT_VIEWER_IMPORT_PERF_DATA_FILE_H_
#define MEMAGENT_VIEWER_IMPORT_PERF_DATA_FILE_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/os/perf_time.h"

namespace memagent::importer {

struct PerfEvent {
  perf_event_attr attr = {};  // fields that the file's perf did not know are zero
  std::vector<uint64_t> ids;
  std::string name;  // as perf calls it; "" when it is not told
};

struct PerfNode {
  uint32_t id = 0;
  uint64_t memory_bytes = 0;
  std::string cpus;  // the kernel's list format
};

// Which blocks of physical memory belong to a node: bit i stands for the block from i times
// PerfMachine::memory_block_bytes on.
struct PerfNodeMemory {
  uint32_t node = 0;
  std::vector<uint64_t> blocks;
};

// Wall clock and the events' clock at one moment; only of recordings with -k.
struct PerfClock {
  uint32_t clock_id = 0;
  uint64_t wall_nanos = 0;
  uint64_t event_nanos = 0;
};

struct PerfMachine {
  std::string host;
  std::string kernel_release;
  std::string perf_version;
  std::string architecture;  // as uname calls it
  std::string cpu;
  std::string cpu_id;                     // x86: "GenuineIntel,6,85,4"; Arm: the MIDR in hex
  std::vector<std::string> command_line;  // perf's own
  std::vector<PerfNode> nodes;
  std::map<uint32_t, std::string> pmus;  // by perf_event_attr.type
  uint64_t memory_block_bytes = 0;       // 0: not told
  std::vector<PerfNodeMemory> memory;
  std::optional<PerfClock> clock;
};

struct PerfBuildId {
  std::string path;
  std::string id;           // raw bytes
  bool size_known = false;  // else 20 bytes, whose last may be filled up with zeros
};

struct PerfDataFile {
  std::vector<PerfEvent> events;
  PerfMachine machine;
  std::vector<PerfBuildId> build_ids;
  std::span<const uint8_t> records;  // of the bytes that were parsed
  std::optional<os::PerfTime> time_conversion;
  uint32_t auxtrace_type = 0;            // 0: no AUX data
  std::vector<uint64_t> auxtrace_facts;  // of the tracer, in a layout of its own
  std::vector<std::string> warnings;     // a sentence each, without the file's name
};

// Without a file, `problem` says why in one sentence.
struct PerfDataResult {
  std::optional<PerfDataFile> file;
  std::string problem;
};

// `name` is used in sentences only. The file keeps views into `bytes`.
PerfDataResult ParsePerfData(std::span<const uint8_t> bytes, std::string_view name);

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_PERF_DATA_FILE_H_
