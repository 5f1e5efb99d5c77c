#include "agent/ledger/event_time.h"

#include <gtest/gtest.h>

namespace memagent::ledger {
namespace {

TEST(EventTime, OrderHoldsAcrossTheWrap) {
  const EventTime now = 50;
  EXPECT_TRUE(AtOrBefore(now - 100, now - 99, now));
  EXPECT_TRUE(AtOrBefore(now - 100, now - 100, now));
  EXPECT_FALSE(AtOrBefore(now - 99, now - 100, now));
  EXPECT_EQ(Age(0xffffffff, 1), 2u);
}

TEST(EventTime, NowMovesOn) {
  const EventTime before = Now();
  const uint64_t start = os::ReadTsc();
  while (os::ReadTsc() - start < 100'000) {
  }
  const EventTime after = Now();
  EXPECT_GE(Age(before, after), (100'000u >> kEventTimeShift) - 1);
  EXPECT_LT(Age(before, after), 1u << 30);
}

}  // namespace
}  // namespace memagent::ledger
