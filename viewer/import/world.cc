#include "viewer/import/world.h"

#include <utility>

#include "viewer/import/perf_format.h"

namespace memagent::importer {
namespace {

constexpr int32_t kKernelPid = -1;

std::string NameOrIdle(int32_t tid, std::string name) {
  return tid == 0 && name.empty() ? "swapper" : std::move(name);  // the kernel's idle threads
}

}  // namespace

AddressMap& World::Writable(int32_t pid) {
  std::shared_ptr<AddressMap>& map = maps_[pid];
  if (map == nullptr) map = std::make_shared<AddressMap>();
  if (map.use_count() > 1) {
    if (copies_ + map->size() > kMostCopies) {
      ++maps_not_copied_;
      map = std::make_shared<AddressMap>();
    } else {
      copies_ += map->size();
      map = std::make_shared<AddressMap>(*map);
    }
  }
  return *map;
}

const AddressMap* World::MapOf(int32_t pid) const {
  const auto known = maps_.find(pid);
  return known == maps_.end() ? nullptr : known->second.get();
}

void World::BeginThread(int32_t pid, int32_t tid, std::string name, uint64_t started) {
  by_tid_[tid] = static_cast<uint32_t>(threads_.size());
  threads_.push_back({pid, tid, NameOrIdle(tid, std::move(name)), started, 0});
}

uint32_t World::ThreadOf(int32_t pid, int32_t tid) {
  const auto known = by_tid_.find(tid);
  if (known == by_tid_.end() || threads_[known->second].pid != pid) BeginThread(pid, tid, "", 0);
  return by_tid_[tid];
}

int32_t World::PidOf(int32_t tid) const {
  const auto known = by_tid_.find(tid);
  return known == by_tid_.end() ? 0 : threads_[known->second].pid;
}

int32_t World::RunningOn(uint32_t cpu) const {
  const auto known = running_.find(cpu);
  return known == running_.end() ? -1 : known->second;
}

void World::ApplyMmap(const RawRecord& record) {
  std::optional<MmapRecord> mmap = ParseMmap(record);
  if (!mmap || IsGuest(record.misc)) return;
  const bool kernel = mmap->pid == kKernelPid ||
                      (record.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
  if (heaps_.contains({mmap->pid, mmap->start})) mmap->path = kHeapName;
  Map(*mmap, kernel);
}

void World::Map(const MmapRecord& mmap, bool kernel) {
  Mapping mapping;
  mapping.start = mmap.start;
  mapping.end = mmap.start + mmap.size;
  mapping.offset = mmap.offset;
  mapping.file = files_.IdOf(mmap);
  mapping.id = ++mappings_;
  mapping.anonymous = files_.Get(mapping.file).kind == MappingKind::kAnonymous;
  mapping.executable = mmap.executable;
  mapping.writable = mmap.writable;
  mapping.shared = mmap.shared;
  (kernel ? kernel_ : Writable(mmap.pid)).Insert(mapping);
}

void World::ApplyComm(const CommRecord& comm) {
  const uint32_t thread = ThreadOf(comm.pid, comm.tid);
  threads_[thread].name = comm.name;
  if (comm.exec) maps_.erase(comm.pid);
}

void World::ApplyFork(const RawRecord& record, const TaskRecord& task) {
  const auto parent = by_tid_.find(task.parent_tid);
  std::string name = parent == by_tid_.end() ? "" : threads_[parent->second].name;
  BeginThread(task.pid, task.tid, std::move(name), task.time);
  if (task.pid == task.parent_pid || (record.misc & kMiscForkWithoutMaps) != 0) return;
  const auto maps = maps_.find(task.parent_pid);
  if (maps == maps_.end()) {
    maps_.erase(task.pid);
  } else {
    std::shared_ptr<AddressMap> shared = maps->second;
    maps_[task.pid] = std::move(shared);
  }
}

void World::ApplySwitch(const RawRecord& record, const Trailer& trailer) {
  if (!trailer.present || trailer.cpu == kNoCpu) return;
  const bool out = record.type != PERF_RECORD_ITRACE_START && (record.misc & kMiscSwitchOut) != 0;
  running_[trailer.cpu] = out ? -1 : trailer.tid;
  if (!out) ThreadOf(trailer.pid, trailer.tid);
}

void World::Apply(const RawRecord& record, const Trailer& trailer, uint64_t time) {
  switch (record.type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
      return ApplyMmap(record);
    case PERF_RECORD_COMM:
      if (const auto comm = ParseComm(record)) ApplyComm(*comm);
      return;
    case PERF_RECORD_FORK:
      if (const auto task = ParseTask(record)) ApplyFork(record, *task);
      return;
    case PERF_RECORD_EXIT:
      if (const auto task = ParseTask(record)) {
        const auto known = by_tid_.find(task->tid);
        if (known != by_tid_.end()) threads_[known->second].ended = time;
      }
      return;
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
    case PERF_RECORD_ITRACE_START:
      return ApplySwitch(record, trailer);
    default:
      return;
  }
}

}  // namespace memagent::importer
