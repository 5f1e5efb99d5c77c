#include "viewer/import/perf_features.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "viewer/import/perf_format.h"

namespace memagent::importer {
namespace {

using decode::RecordReader;

constexpr size_t kMaxAttrBytes = 4096;  // the kernel's own limit: a page
constexpr size_t kBuildIdBytes = 20;

// Up to the first zero byte.
std::string TextOf(std::span<const uint8_t> bytes) {
  const auto end = std::find(bytes.begin(), bytes.end(), 0);
  return {bytes.begin(), end};
}

std::string TakeString(RecordReader& reader) {
  const auto size = reader.Take<uint32_t>();
  return TextOf(reader.TakeBytes(size));
}

std::vector<std::string> TakeStrings(RecordReader& reader) {
  std::vector<std::string> strings;
  const auto count = reader.Take<uint32_t>();
  for (uint32_t i = 0; i < count && reader.ok(); ++i) strings.push_back(TakeString(reader));
  return strings;
}

void TakeNodes(RecordReader& reader, PerfMachine& machine) {
  const auto count = reader.Take<uint32_t>();
  for (uint32_t i = 0; i < count; ++i) {
    PerfNode node;
    node.id = reader.Take<uint32_t>();
    node.memory_bytes = reader.Take<uint64_t>();  // the file has KiB
    reader.Take<uint64_t>();                      // free
    node.cpus = TakeString(reader);
    if (!reader.ok()) return;
    node.memory_bytes *= 1024;
    machine.nodes.push_back(std::move(node));
  }
}

void TakePmus(RecordReader& reader, PerfMachine& machine) {
  const auto count = reader.Take<uint32_t>();
  for (uint32_t i = 0; i < count; ++i) {
    const auto type = reader.Take<uint32_t>();
    std::string name = TakeString(reader);
    if (!reader.ok()) return;
    machine.pmus[type] = std::move(name);
  }
}

void TakeMemory(RecordReader& reader, PerfMachine& machine) {
  if (reader.Take<uint64_t>() != 1) return;  // the version
  const auto block_bytes = reader.Take<uint64_t>();
  const auto count = reader.Take<uint64_t>();
  for (uint64_t i = 0; i < count; ++i) {
    PerfNodeMemory memory;
    memory.node = static_cast<uint32_t>(reader.Take<uint64_t>());
    reader.Take<uint64_t>();  // the bitmap's size, once more
    const auto bits = reader.Take<uint64_t>();
    const uint64_t words = bits / 64 + (bits % 64 != 0);
    if (!reader.ok() || words > reader.remaining() / sizeof(uint64_t)) return;
    for (uint64_t word = 0; word < words; ++word) memory.blocks.push_back(reader.Take<uint64_t>());
    machine.memory.push_back(std::move(memory));
    machine.memory_block_bytes = block_bytes;
  }
}

void TakeClock(RecordReader& reader, PerfMachine& machine) {
  if (reader.Take<uint32_t>() != 1) return;  // the version
  PerfClock clock;
  clock.clock_id = reader.Take<uint32_t>();
  clock.wall_nanos = reader.Take<uint64_t>();
  clock.event_nanos = reader.Take<uint64_t>();
  if (reader.ok()) machine.clock = clock;
}

PerfEvent* FindEvent(PerfDataFile& file, const std::vector<uint64_t>& ids, uint32_t index) {
  for (PerfEvent& event : file.events) {
    if (!ids.empty() && event.ids == ids) return &event;
  }
  // Events of which only one was opened may have no ids.
  return ids.empty() && index < file.events.size() ? &file.events[index] : nullptr;
}

// Attrs once more, with their names.
void TakeEventNames(RecordReader& reader, PerfDataFile& file) {
  const auto count = reader.Take<uint32_t>();
  const auto attr_bytes = reader.Take<uint32_t>();
  for (uint32_t i = 0; i < count; ++i) {
    reader.TakeBytes(attr_bytes);
    const auto id_count = reader.Take<uint32_t>();
    std::string name = TakeString(reader);
    std::vector<uint64_t> ids;
    for (uint32_t id = 0; id < id_count && reader.ok(); ++id)
      ids.push_back(reader.Take<uint64_t>());
    if (!reader.ok()) return;
    if (PerfEvent* event = FindEvent(file, ids, i)) event->name = std::move(name);
  }
}

void TakeBuildIds(std::span<const uint8_t> bytes, PerfDataFile& file) {
  while (bytes.size() > sizeof(perf_event_header)) {
    perf_event_header header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    if (header.size <= sizeof(header) || header.size > bytes.size()) return;
    TakeBuildId(header.misc, bytes.first(header.size).subspan(sizeof(header)), file);
    bytes = bytes.subspan(header.size);
  }
}

// Of features that are one string.
std::string* TextOfFeature(uint32_t feature, PerfMachine& machine) {
  switch (feature) {
    case kFeatureHostName:
      return &machine.host;
    case kFeatureKernelRelease:
      return &machine.kernel_release;
    case kFeaturePerfVersion:
      return &machine.perf_version;
    case kFeatureArchitecture:
      return &machine.architecture;
    case kFeatureCpuDescription:
      return &machine.cpu;
    case kFeatureCpuId:
      return &machine.cpu_id;
    default:
      return nullptr;
  }
}

}  // namespace

void TakeBuildId(uint16_t misc, std::span<const uint8_t> body, PerfDataFile& file) {
  RecordReader reader(body);
  reader.Take<int32_t>();  // the process, or -1 for the kernel: the path tells enough
  const std::span<const uint8_t> id = reader.TakeBytes(kBuildIdBytes);
  const size_t size = reader.Take<uint8_t>();
  reader.TakeBytes(3);
  if (!reader.ok()) return;
  PerfBuildId build_id;
  build_id.size_known = (misc & kMiscBuildIdSize) != 0 && size <= kBuildIdBytes;
  const auto kept = id.first(build_id.size_known ? size : kBuildIdBytes);
  build_id.id.assign(kept.begin(), kept.end());
  build_id.path = TextOf(reader.TakeBytes(reader.remaining()));
  file.build_ids.push_back(std::move(build_id));
}

std::optional<perf_event_attr> TakeAttr(RecordReader& reader, size_t bytes) {
  const std::span<const uint8_t> field = reader.TakeBytes(bytes);
  if (field.size() < PERF_ATTR_SIZE_VER0 || field.size() > kMaxAttrBytes) return std::nullopt;
  perf_event_attr attr = {};
  std::memcpy(&attr, field.data(), std::min(field.size(), sizeof(attr)));
  return attr;
}

void TakeFeature(uint32_t feature, std::span<const uint8_t> bytes, PerfDataFile& file) {
  RecordReader reader(bytes);
  PerfMachine& machine = file.machine;
  if (std::string* text = TextOfFeature(feature, machine)) *text = TakeString(reader);
  switch (feature) {
    case kFeatureBuildId:
      return TakeBuildIds(bytes, file);
    case kFeatureCommandLine:
      machine.command_line = TakeStrings(reader);
      return;
    case kFeatureEventDescription:
      return TakeEventNames(reader, file);
    case kFeatureNumaTopology:
      return TakeNodes(reader, machine);
    case kFeaturePmuMappings:
      return TakePmus(reader, machine);
    case kFeatureMemoryTopology:
      return TakeMemory(reader, machine);
    case kFeatureClockData:
      return TakeClock(reader, machine);
    default:
      return;
  }
}

}  // namespace memagent::importer
