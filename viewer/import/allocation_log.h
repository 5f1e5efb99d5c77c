// A log of the allocations of a recorded program, which a tracer wrote beside perf: text, an event
// a line,
//
//   TIME PID alloc ADDRESS SIZE [SITE]
//   TIME PID free ADDRESS
//
// with TIME in seconds of the clock of the recording (12.345678901), numbers as C writes them, and
// SITE whatever the tracer knows of who allocated: blocks of equal SITE are one site. Empty lines
// and lines that begin with # are nothing. Pure.
#ifndef MEMAGENT_VIEWER_IMPORT_ALLOCATION_LOG_H_
#define MEMAGENT_VIEWER_IMPORT_ALLOCATION_LOG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memagent::importer {

struct LoggedEvent {
  uint64_t time_nanos = 0;
  int32_t pid = 0;
  bool is_free = false;
  uint64_t address = 0;
  uint64_t size_bytes = 0;  // 0 of a free
  uint32_t name = 0;        // index in AllocationLog::names
};

struct AllocationLog {
  std::vector<LoggedEvent> events;  // ascending by time; of one time in the order of the lines
  std::vector<std::string> names;
  uint64_t bad_lines = 0;
  uint64_t first_bad_line = 0;  // counted from 1
};

AllocationLog ParseAllocationLog(std::string_view text);

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_ALLOCATION_LOG_H_
