// From one sample of a perf.data file to what is booked of it. Pure.
#ifndef MEMAGENT_VIEWER_IMPORT_SAMPLE_DECODER_H_
#define MEMAGENT_VIEWER_IMPORT_SAMPLE_DECODER_H_

#include <optional>

#include "viewer/import/booking.h"
#include "viewer/import/event_roles.h"
#include "viewer/import/perf_data_file.h"
#include "viewer/import/record_walk.h"

namespace memagent::importer {

// A sample of an access or of a page fault. nullopt when it is not as its event says.
std::optional<ImportedSample> DecodeSample(const RawRecord& record, const PerfEvent& event,
                                           const EventRole& role,
                                           const decode::IbsProcessor& processor);

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_SAMPLE_DECODER_H_
