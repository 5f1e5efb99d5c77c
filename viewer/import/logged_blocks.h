// The blocks of an allocation log while a recording is replayed: which live at an address now, and
// what was allocated in all.
#ifndef MEMAGENT_VIEWER_IMPORT_LOGGED_BLOCKS_H_
#define MEMAGENT_VIEWER_IMPORT_LOGGED_BLOCKS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "viewer/import/allocation_log.h"

namespace memagent::importer {

// Of one site. Bytes as asked for.
struct LoggedCounts {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t bytes_allocated = 0;
  uint64_t bytes_freed = 0;
  uint64_t bytes_peak = 0;
};

class LoggedBlocks {
 public:
  // The log outlives this.
  explicit LoggedBlocks(const AllocationLog& log) : log_(log), counts_(log.names.size()) {}

  // All that happened up to and at this time; times must not go back.
  void Advance(uint64_t time_nanos);

  // Index in the log's names of the site whose block the address lies in.
  std::optional<uint32_t> Find(int32_t pid, uint64_t address) const;

  const AllocationLog& log() const { return log_; }
  const std::vector<LoggedCounts>& counts() const { return counts_; }  // by name
  // Frees of what the log does not know as live, and blocks that lay where one still lived.
  uint64_t contradictions() const { return contradictions_; }

 private:
  struct Block {
    uint64_t size_bytes = 0;
    uint32_t name = 0;
  };
  using Blocks = std::map<uint64_t, Block>;  // by start

  void Allocate(const LoggedEvent& event);
  void Free(const LoggedEvent& event);
  Blocks::iterator Remove(Blocks& blocks, Blocks::iterator block);

  const AllocationLog& log_;
  size_t next_ = 0;  // in log_.events
  std::unordered_map<int32_t, Blocks> live_;
  std::vector<LoggedCounts> counts_;
  uint64_t contradictions_ = 0;
};

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_LOGGED_BLOCKS_H_
