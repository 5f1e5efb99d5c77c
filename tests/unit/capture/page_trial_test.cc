#include "agent/capture/page_trial.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "agent/base/held_memory.h"
#include "agent/capture/event_selection.h"

namespace memagent::capture {
namespace {

TEST(PageTrialLive, AHandfulOfPagesShowsTheirPrice) {
  const EventSelection selection = SelectEvents({}, {});  // may be the first use of our heap
  const size_t mapped = base::BytesMapped();
  const PageTrial trial = TryPages(&selection.minor_faults.front().attr, 0.5);
  printf("[ note ] record %.0f ns, give back %.0f ns, at 2 GHz\n", trial.record_nanos,
         trial.unmap_nanos);
  EXPECT_GT(trial.unmap_nanos, 0);
  EXPECT_GE(trial.record_nanos, 0);  // 0 where perf events are refused
  EXPECT_LT(trial.record_nanos, 1e6);
  EXPECT_EQ(base::BytesMapped(), mapped);
}

TEST(PageTrialLive, WithoutAnEventNothingIsRecorded) {
  EXPECT_EQ(TryPages(nullptr, 1).record_nanos, 0);
}

}  // namespace
}  // namespace memagent::capture
