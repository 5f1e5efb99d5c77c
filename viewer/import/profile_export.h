// Writes a booked recording as a profile.
#ifndef MEMAGENT_VIEWER_IMPORT_PROFILE_EXPORT_H_
#define MEMAGENT_VIEWER_IMPORT_PROFILE_EXPORT_H_

#include <string_view>

#include "agent/profile/chunk_writer.h"
#include "viewer/import/recording.h"

namespace memagent::importer {

// False when the sink refused a part. `source`: what the file is called, for the profile's header.
bool WriteProfile(Recording& recording, std::string_view source, profile::Sink& sink);

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_PROFILE_EXPORT_H_
