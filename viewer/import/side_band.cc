#include "viewer/import/side_band.h"

#include <sys/mman.h>

#include <algorithm>

#include "agent/decode/record_reader.h"
#include "viewer/import/perf_format.h"

namespace memagent::importer {
namespace {

using decode::RecordReader;

// A name fills the rest of its record, but for the trailer, up to its zero byte.
std::string TakeName(RecordReader& reader) {
  const std::span<const uint8_t> rest = reader.TakeBytes(reader.remaining());
  return {rest.begin(), std::find(rest.begin(), rest.end(), 0)};
}

// The 24 bytes that tell which file it is, in one of two ways.
void TakeFile(RecordReader& reader, uint16_t misc, MmapRecord& mmap) {
  if ((misc & kMiscMmapBuildId) == 0) {
    mmap.major = reader.Take<uint32_t>();
    mmap.minor = reader.Take<uint32_t>();
    mmap.inode = reader.Take<uint64_t>();
    reader.Take<uint64_t>();  // generation: perf writes 0 for what was mapped before it came
    return;
  }
  const size_t size = reader.Take<uint8_t>();
  reader.TakeBytes(3);
  const std::span<const uint8_t> id = reader.TakeBytes(20);
  const auto kept = id.first(std::min(size, id.size()));
  mmap.build_id.assign(kept.begin(), kept.end());
}

}  // namespace

std::optional<MmapRecord> ParseMmap(const RawRecord& record) {
  RecordReader reader(record.body());
  MmapRecord mmap;
  mmap.pid = reader.Take<int32_t>();
  mmap.tid = reader.Take<int32_t>();
  mmap.start = reader.Take<uint64_t>();
  mmap.size = reader.Take<uint64_t>();
  mmap.offset = reader.Take<uint64_t>();
  if (record.type == PERF_RECORD_MMAP2) {
    TakeFile(reader, record.misc, mmap);
    const auto protection = reader.Take<uint32_t>();
    const auto flags = reader.Take<uint32_t>();
    mmap.executable = (protection & PROT_EXEC) != 0;
    mmap.writable = (protection & PROT_WRITE) != 0;
    mmap.shared = (flags & MAP_SHARED) != 0;
  } else {
    mmap.executable = (record.misc & kMiscMmapData) == 0;
    mmap.writable = !mmap.executable;
  }
  if (!reader.ok() || mmap.size == 0 || mmap.size > UINT64_MAX - mmap.start) return std::nullopt;
  mmap.path = TakeName(reader);
  return mmap;
}

std::optional<CommRecord> ParseComm(const RawRecord& record) {
  RecordReader reader(record.body());
  CommRecord comm;
  comm.pid = reader.Take<int32_t>();
  comm.tid = reader.Take<int32_t>();
  comm.exec = (record.misc & kMiscCommExec) != 0;
  if (!reader.ok()) return std::nullopt;
  comm.name = TakeName(reader);
  return comm;
}

std::optional<TaskRecord> ParseTask(const RawRecord& record) {
  RecordReader reader(record.body());
  TaskRecord task;
  task.pid = reader.Take<int32_t>();
  task.parent_pid = reader.Take<int32_t>();
  task.tid = reader.Take<int32_t>();
  task.parent_tid = reader.Take<int32_t>();
  task.time = reader.Take<uint64_t>();
  if (!reader.ok()) return std::nullopt;
  return task;
}

}  // namespace memagent::importer
