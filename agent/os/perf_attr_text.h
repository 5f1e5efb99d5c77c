// A perf_event_attr as words, for the profile: "type=1 config=0 sample_period=1000000
// exclude_kernel". Fields that are zero are left out, but for type and config. Calling thread: the
// drain thread.
#ifndef MEMAGENT_AGENT_OS_PERF_ATTR_TEXT_H_
#define MEMAGENT_AGENT_OS_PERF_ATTR_TEXT_H_

#include <linux/perf_event.h>

#include "agent/base/containers.h"

namespace memagent::os {

base::String PerfAttrText(const perf_event_attr& attr);

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_PERF_ATTR_TEXT_H_
