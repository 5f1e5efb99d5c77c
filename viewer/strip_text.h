// "used by" and "lives on" of a site's blocks from their begin to their end, as strips of
// characters.
#ifndef MEMAGENT_VIEWER_STRIP_TEXT_H_
#define MEMAGENT_VIEWER_STRIP_TEXT_H_

#include <string>
#include <vector>

#include "viewer/terminal.h"
#include "viewer/view.h"

namespace memagent::viewer {

struct StripLine {
  std::string label;  // "used by", "lives on", "" for the legend
  std::string text;
};

// Empty where the profile tells no positions. A character stands for the node that has three
// quarters of the samples there; where none has, for several.
std::vector<StripLine> StripLines(const SiteView& site, const Terminal& terminal);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_STRIP_TEXT_H_
