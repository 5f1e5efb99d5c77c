// What became of sampled instructions, by code: of the engine that tells fates and no data address
// (ProfileMe, decode/profileme.h). Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_AGGREGATE_CODE_FATES_H_
#define MEMAGENT_AGENT_AGGREGATE_CODE_FATES_H_

#include <array>
#include <cstdint>

#include "agent/base/containers.h"
#include "agent/decode/profileme.h"

namespace memagent::aggregate {

inline constexpr size_t kTrapKinds = static_cast<size_t>(decode::ProfileMeTrap::kUnknown) + 1;

// Samples of one instruction; fates exclude each other and add up to `samples`.
struct FateCounts {
  uint64_t samples = 0;
  uint64_t retired = 0;
  uint64_t killed_before_map = 0;
  uint64_t killed_after_map = 0;
  std::array<uint64_t, kTrapKinds> trapped = {};  // by decode::ProfileMeTrap
  uint64_t icache_misses = 0;
  uint64_t stalled = 0;    // at least a cycle between fetch and map
  uint64_t in_window = 0;  // sum of what the second counter counted beside it

  void Add(const decode::ProfileMeSample& sample, uint64_t weight);
  void Add(const FateCounts& other);
};

class CodeFates {
 public:
  // A part of a checkpoint must fit into one chunk (profile/writer.h): the rest goes to address 0.
  static constexpr size_t kMaxCode = 8192;

  void Add(uint64_t ip, const decode::ProfileMeSample& sample, uint64_t weight);
  // Counts of `from` as of `to`, for all that `rename(from)` gives another name.
  template <typename F>
  void Rename(F rename) {
    base::HashMap<uint64_t, FateCounts> renamed;
    for (const auto& [ip, counts] : by_code_) renamed[rename(ip)].Add(counts);
    by_code_ = std::move(renamed);
  }

  const base::HashMap<uint64_t, FateCounts>& by_code() const { return by_code_; }

 private:
  base::HashMap<uint64_t, FateCounts> by_code_;
};

}  // namespace memagent::aggregate

#endif  // MEMAGENT_AGENT_AGGREGATE_CODE_FATES_H_
