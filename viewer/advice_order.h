// What to try first of what is advised.
#ifndef MEMAGENT_VIEWER_ADVICE_ORDER_H_
#define MEMAGENT_VIEWER_ADVICE_ORDER_H_

#include <vector>

#include "viewer/advice.h"

namespace memagent::viewer {

// Sure before unsure gains, then those without a number, then what asks for nothing to be done;
// among sure or unsure ones what surely gains more. Others, whose intervals overlap, keep their
// order, as do pinning threads and binding memory to where they run.
void PutBestFirst(std::vector<Advice>& advice, const Prediction& now);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_ADVICE_ORDER_H_
