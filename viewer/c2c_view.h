// The counters of `perf c2c --stats` (Linux 7.2), counted as perf counts them, for a comparison
// with perf and for nothing else (facts: perf_abi 6.2).
//
// perf looks at the old half of the word only, never at the level's number. Its known miscounts,
// each of them confirmed with perf 7.2 and repeated here on purpose:
//
//   * Skylake-SP to Granite Rapids: a modified line from another socket counts as rmt_hitm and as
//     rmt_dram; a clean one (forwarded) as rmt_dram alone; remote persistent memory as rmt_hit and
//     rmt_dram. One load, two counters: their sum exceeds the loads.
//   * Local persistent memory and CXL count nowhere but in `load`.
//   * AMD since Zen 4: a clean line from another core complex counts nowhere, of the same node or
//     another. A modified one from a neighbour in the same node counts as rmt_hitm, which looks
//     like sharing between sockets, on a machine with one socket as well.
//   * Arm SPE's "remote" counts as rmt_hit and rmt_peer though it may be memory.
//   * Intel's source 0, an L3 miss of unknown end, counts as ld_miss, whatever served it.
//
// Our own classification (decode/data_source.h) has none of these: each access has one level and
// one locality.
#ifndef MEMAGENT_VIEWER_C2C_VIEW_H_
#define MEMAGENT_VIEWER_C2C_VIEW_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace memagent::viewer {

enum class C2cCounter : uint8_t {
  kLocks,
  kStore,
  kStoreUncached,
  kStoreNoAddress,
  kStoreL1Hit,
  kStoreL1Miss,
  kStoreNotAvailable,
  kLoad,
  kLoadExclusive,
  kLoadShared,
  kLoadUncached,
  kLoadIo,
  kLoadMiss,
  kLoadNoAddress,
  kLoadFillBuffer,
  kLoadL1Hit,
  kLoadL2Hit,
  kLoadL3Hit,
  kLocalHitM,
  kRemoteHitM,
  kLocalPeer,
  kRemotePeer,
  kRemoteHit,
  kLocalDram,
  kRemoteDram,
  kBlockedData,
  kBlockedAddress,
  kNotParsed,
};
inline constexpr size_t kC2cCounterCount = 28;

// perf's name in its source and its tests: "rmt_hitm".
std::string_view C2cName(C2cCounter counter);

class C2cView {
 public:
  // One sample. perf gives up on loads and stores whose address is 0.
  void Add(uint64_t data_src, uint64_t address);

  uint64_t operator[](C2cCounter counter) const { return counts_[static_cast<size_t>(counter)]; }
  // Figures that perf derives when it prints.
  uint64_t LoadLlcHit() const;  // "Load LLC hit"
  uint64_t LlcMisses() const;   // "LLC Misses"
  uint64_t TotalHitM() const;   // "Total HITM"

 private:
  void Count(C2cCounter counter) { ++counts_[static_cast<size_t>(counter)]; }
  void AddLoad(uint64_t data_src);
  void AddLoadHit(uint64_t data_src);
  void AddRemoteCache(uint64_t data_src);
  void AddStore(uint64_t data_src);

  std::array<uint64_t, kC2cCounterCount> counts_ = {};
};

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_C2C_VIEW_H_
