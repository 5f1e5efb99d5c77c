#include "agent/os/cpu_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memagent::os {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CpuList, RangesAndSinglesMix) {
  EXPECT_THAT(*ParseCpuList("0-3,8,10-11\n"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
}

TEST(CpuList, EmptyListIsAMemoryOnlyNode) {
  EXPECT_THAT(*ParseCpuList("\n"), IsEmpty());
  EXPECT_THAT(*ParseCpuList(""), IsEmpty());
}

TEST(CpuList, LargestMachineIsAccepted) {
  EXPECT_EQ(ParseCpuList("0-8191")->size(), kMaxListedNumber);
}

TEST(CpuList, NonsenseIsRefused) {
  for (const char* bad : {"x", "-1", "1-", "-", "3-1", "0-8192", "0-4294967296", "1,1", "2,1",
                          "0-3,3", "1,,2", ",1", "1,", "1 2", "1-2-3", "0x1", "1\n\n"}) {
    EXPECT_FALSE(ParseCpuList(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace memagent::os
