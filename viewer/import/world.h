// Processes and threads while the records of a perf.data file are replayed in order: who lives,
// what they are called, what they have mapped, who runs on which CPU. Pure; bounded by what it is
// given.
#ifndef MEMAGENT_VIEWER_IMPORT_WORLD_H_
#define MEMAGENT_VIEWER_IMPORT_WORLD_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "viewer/import/address_map.h"
#include "viewer/import/event_table.h"
#include "viewer/import/record_walk.h"
#include "viewer/import/side_band.h"

namespace memagent::importer {

struct ThreadInfo {
  int32_t pid = 0;
  int32_t tid = 0;
  std::string name;
  uint64_t started = 0;  // 0: it was there before
  uint64_t ended = 0;    // 0: it still lived
};

class World {
 public:
  // Mappings that may be copied for children that change what they inherited: beyond it a child
  // begins with nothing. Real recordings stay far below, and files made to harm do not cost memory.
  static constexpr size_t kMostCopies = size_t{1} << 22;

  // Where a process has its heap: the kernel calls it so only when it grows.
  void NoteHeap(int32_t pid, uint64_t start) { heaps_.insert({pid, start}); }

  // A record that is no sample; others than those it knows are ignored.
  void Apply(const RawRecord& record, const Trailer& trailer, uint64_t time);

  // Index in threads() of the thread that now has this id.
  uint32_t ThreadOf(int32_t pid, int32_t tid);
  // Of a thread whose process is not told; 0: not known.
  int32_t PidOf(int32_t tid) const;
  // Who runs on the CPU, -1: not known.
  int32_t RunningOn(uint32_t cpu) const;

  // nullptr: nothing is known of the process.
  const AddressMap* MapOf(int32_t pid) const;
  const AddressMap& kernel() const { return kernel_; }
  const MappedFiles& files() const { return files_; }
  const std::vector<ThreadInfo>& threads() const { return threads_; }
  // Children that began with nothing.
  uint64_t maps_not_copied() const { return maps_not_copied_; }

 private:
  void ApplyMmap(const RawRecord& record);
  void Map(const MmapRecord& mmap, bool kernel);
  void ApplyComm(const CommRecord& comm);
  void ApplyFork(const RawRecord& record, const TaskRecord& task);
  void ApplySwitch(const RawRecord& record, const Trailer& trailer);
  void BeginThread(int32_t pid, int32_t tid, std::string name, uint64_t started);
  AddressMap& Writable(int32_t pid);

  MappedFiles files_;
  AddressMap kernel_;
  std::set<std::pair<int32_t, uint64_t>> heaps_;
  // A child shares its parent's until one of them changes it.
  std::unordered_map<int32_t, std::shared_ptr<AddressMap>> maps_;
  std::vector<ThreadInfo> threads_;
  std::unordered_map<int32_t, uint32_t> by_tid_;  // index in threads_
  std::unordered_map<uint32_t, int32_t> running_;
  uint32_t mappings_ = 0;  // ids given
  size_t copies_ = 0;
  uint64_t maps_not_copied_ = 0;
};

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_WORLD_H_
