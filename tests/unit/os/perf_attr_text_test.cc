#include "agent/os/perf_attr_text.h"

#include <gtest/gtest.h>
#include <time.h>

#include "agent/os/perf_event.h"

namespace memagent::os {
namespace {

TEST(PerfAttrText, SetFieldsAreNamedAndZerosLeftOut) {
  perf_event_attr attr = NewPerfAttr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  attr.size = 128;
  attr.sample_period = 1'000'000;
  attr.sample_type = PERF_SAMPLE_IP;
  attr.read_format = 0;
  attr.exclude_kernel = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  EXPECT_EQ(PerfAttrText(attr),
            "type=1 config=0x0 size=128 sample_period=1000000 sample_type=0x1 disabled "
            "exclude_kernel use_clockid clockid=1");
}

TEST(PerfAttrText, EmptyAttrIsTypeAndConfig) {
  EXPECT_EQ(PerfAttrText(perf_event_attr{}), "type=0 config=0x0");
}

}  // namespace
}  // namespace memagent::os
