// Numbers of the perf.data format that the kernel's headers don't have: those of the records that
// perf adds, and of what its header tells. Source: Linux, tools/lib/perf/include/perf/event.h and
// tools/perf/Documentation/perf.data-file-format.txt.
#ifndef MEMAGENT_VIEWER_IMPORT_PERF_FORMAT_H_
#define MEMAGENT_VIEWER_IMPORT_PERF_FORMAT_H_

#include <linux/perf_event.h>

#include <cstdint>

namespace memagent::importer {

// Record types from 64 on are perf's own.
enum PerfRecordType : uint32_t {
  kRecordHeaderAttr = 64,
  kRecordTracingData = 66,
  kRecordBuildId = 67,
  kRecordAuxtraceInfo = 70,
  kRecordAuxtrace = 71,
  kRecordEventUpdate = 78,
  kRecordTimeConv = 79,
  kRecordHeaderFeature = 80,
  kRecordCompressed = 81,
  kRecordCompressed2 = 83,
};

// Bit numbers of the header's feature bitmap, and ids of PERF_RECORD_HEADER_FEATURE.
enum PerfFeature : uint32_t {
  kFeatureBuildId = 2,
  kFeatureHostName = 3,
  kFeatureKernelRelease = 4,
  kFeaturePerfVersion = 5,
  kFeatureArchitecture = 6,
  kFeatureCpuDescription = 8,
  kFeatureCpuId = 9,
  kFeatureCommandLine = 11,
  kFeatureEventDescription = 12,
  kFeatureNumaTopology = 14,
  kFeaturePmuMappings = 16,
  kFeatureMemoryTopology = 22,
  kFeatureClockData = 29,
};
inline constexpr uint32_t kFeatureBits = 256;

// perf_event_header.misc, where its meaning depends on the record's type.
inline constexpr uint16_t kMiscMmapData = 1 << 13;         // MMAP, MMAP2: not executable
inline constexpr uint16_t kMiscCommExec = 1 << 13;         // COMM: of an exec
inline constexpr uint16_t kMiscForkWithoutMaps = 1 << 13;  // FORK: perf's, the maps follow
inline constexpr uint16_t kMiscSwitchOut = 1 << 13;        // SWITCH
inline constexpr uint16_t kMiscMmapBuildId = 1 << 14;      // MMAP2: a build id instead of an inode
inline constexpr uint16_t kMiscBuildIdSize = 1 << 15;      // build id records: its size is told
inline constexpr uint16_t kMiscLostByFilter = 1 << 15;     // LOST_SAMPLES: by perf's own filter

// PERF_RECORD_AUXTRACE_INFO: whose data the AUX area holds (tools/perf/util/auxtrace.h).
inline constexpr uint32_t kAuxtraceArmSpe = 4;

// Taken in a virtual machine's guest: its addresses are not of any process of ours.
constexpr bool IsGuest(uint16_t misc) {
  const uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
  return mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER ||
         mode == PERF_RECORD_MISC_HYPERVISOR;
}

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_PERF_FORMAT_H_
