// Text of a perf.data file, fit for a profile's header and for sentences.
#ifndef MEMAGENT_VIEWER_IMPORT_PLAIN_TEXT_H_
#define MEMAGENT_VIEWER_IMPORT_PLAIN_TEXT_H_

#include <string>
#include <string_view>

#include "viewer/text.h"

namespace memagent::importer {

// Names of machines, CPUs and events are shorter; a file made to harm has no bound.
inline constexpr size_t kMostTextBytes = 256;

// Valid UTF-8 without control characters, cut after kMostTextBytes.
inline std::string PlainText(std::string_view text) {
  return viewer::Printable(text.substr(0, kMostTextBytes), viewer::Charset::kUtf8);
}

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_PLAIN_TEXT_H_
