// Which site of a profile the report calls S1, S2, ...
#ifndef MEMAGENT_VIEWER_SITE_NUMBER_H_
#define MEMAGENT_VIEWER_SITE_NUMBER_H_

#include <cstdint>
#include <string_view>

#include "agent/profile/reader.h"

namespace memagent::viewer {

// Its number in the file; 0: the report has no site of that name.
uint32_t SiteNumber(const profile::Profile& profile, std::string_view name);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_SITE_NUMBER_H_
