// From the bytes of a perf.data file to a profile.
#ifndef MEMAGENT_VIEWER_IMPORT_IMPORTER_H_
#define MEMAGENT_VIEWER_IMPORT_IMPORTER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/profile/chunk_writer.h"
#include "viewer/import/recording.h"

namespace memagent::importer {

struct ImportResult {
  std::string problem;             // one sentence: nothing was written; "" when something was
  std::vector<std::string> notes;  // what is missing, a sentence each; they are in the profile, too
  bool stored = false;             // false without a problem: the sink refused, and knows why
  std::string event;               // that the profile is of
  uint64_t samples = 0;            // of it that are in the profile
  uint64_t faults = 0;
  size_t threads = 0;
};

// `name` is used in sentences and kept in the profile. The sink may refuse.
ImportResult ImportPerfData(std::span<const uint8_t> bytes, std::string_view name,
                            const ImportOptions& options, profile::Sink& sink);

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_IMPORTER_H_
