// How far a profile's numbers can be trusted, in one word and the reasons for it.
#ifndef MEMAGENT_VIEWER_QUALITY_H_
#define MEMAGENT_VIEWER_QUALITY_H_

#include <string_view>

#include "viewer/view.h"

namespace memagent::viewer {

// Uses everything of the view except `quality` itself.
Quality JudgeQuality(const View& view);

std::string_view QualityWord(Quality::Word word);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_QUALITY_H_
