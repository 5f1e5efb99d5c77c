#include "viewer/import/importer.h"

#include <utility>

#include "viewer/import/perf_data_file.h"
#include "viewer/import/profile_export.h"

namespace memagent::importer {

ImportResult ImportPerfData(std::span<const uint8_t> bytes, std::string_view name,
                            const ImportOptions& options, profile::Sink& sink) {
  ImportResult result;
  PerfDataResult parsed = ParsePerfData(bytes, name);
  if (!parsed.file) {
    result.problem = std::move(parsed.problem);
    return result;
  }
  Recording recording(std::move(*parsed.file), options);
  result.problem = recording.Problem(name);
  if (!result.problem.empty()) return result;
  result.notes = recording.Notes();
  result.event = recording.roles()[recording.main_event()].name;
  result.samples = recording.booking().accesses() + recording.booking().fates();
  result.threads = recording.booking().threads().size();
  for (const auto& [serial, stats] : recording.booking().aggregator().threads()) {
    result.faults += stats.accounting.faults_seen;
  }
  result.stored = WriteProfile(recording, name, sink);
  return result;
}

}  // namespace memagent::importer
