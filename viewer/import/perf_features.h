// The sections of a perf.data header ("features"), one by one. Pure; trusts no count.
#ifndef MEMAGENT_VIEWER_IMPORT_PERF_FEATURES_H_
#define MEMAGENT_VIEWER_IMPORT_PERF_FEATURES_H_

#include <cstdint>
#include <span>

#include "agent/decode/record_reader.h"
#include "viewer/import/perf_data_file.h"

namespace memagent::importer {

// Takes what one feature tells into `file`; those we have no use for, and what is behind the first
// field that is cut short, are left out.
void TakeFeature(uint32_t feature, std::span<const uint8_t> bytes, PerfDataFile& file);

// One entry of the build-id list, also a record of its own; without its header.
void TakeBuildId(uint16_t misc, std::span<const uint8_t> body, PerfDataFile& file);

// An attr of `bytes` bytes; nullopt when it can't be one (perf_abi 1.1: at least 64).
std::optional<perf_event_attr> TakeAttr(decode::RecordReader& reader, size_t bytes);

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_PERF_FEATURES_H_
