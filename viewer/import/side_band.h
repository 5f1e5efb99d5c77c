// Records that tell what the program did besides the samples: mappings, names, threads, switches.
// From bytes to fields. Pure; trusts no length. Layouts: perf_abi 1.3.
#ifndef MEMAGENT_VIEWER_IMPORT_SIDE_BAND_H_
#define MEMAGENT_VIEWER_IMPORT_SIDE_BAND_H_

#include <cstdint>
#include <optional>
#include <string>

#include "viewer/import/record_walk.h"

namespace memagent::importer {

// MMAP and MMAP2. perf writes them for what was mapped before it came; the kernel, for each mapping
// that is made, grown or protected anew. What is unmapped is never told.
struct MmapRecord {
  int32_t pid = 0;  // -1: the kernel's
  int32_t tid = 0;
  uint64_t start = 0;
  uint64_t size = 0;
  uint64_t offset = 0;  // in the file
  bool executable = false;
  bool writable = false;
  bool shared = false;
  uint32_t major = 0;  // of the file's device; 0 where the record does not tell
  uint32_t minor = 0;
  uint64_t inode = 0;
  std::string build_id;  // raw bytes; only where the record tells
  std::string path;
};

struct CommRecord {
  int32_t pid = 0;
  int32_t tid = 0;
  bool exec = false;
  std::string name;
};

// FORK and EXIT.
struct TaskRecord {
  int32_t pid = 0;
  int32_t parent_pid = 0;
  int32_t tid = 0;
  int32_t parent_tid = 0;
  uint64_t time = 0;
};

std::optional<MmapRecord> ParseMmap(const RawRecord& record);
std::optional<CommRecord> ParseComm(const RawRecord& record);
std::optional<TaskRecord> ParseTask(const RawRecord& record);

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_SIDE_BAND_H_
