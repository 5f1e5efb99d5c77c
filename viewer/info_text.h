// What `memagent info` prints for people.
#ifndef MEMAGENT_VIEWER_INFO_TEXT_H_
#define MEMAGENT_VIEWER_INFO_TEXT_H_

#include <string>

#include "viewer/terminal.h"
#include "viewer/view.h"

namespace memagent::viewer {

std::string InfoText(const View& view, const Terminal& terminal);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_INFO_TEXT_H_
