#include "agent/capture/mapping_budget.h"

#include <gtest/gtest.h>

namespace memagent::capture {
namespace {

constexpr uint64_t kMost = 65530;

uint32_t TakeAll(MappingBudget& budget) {
  uint32_t taken = 0;
  while (taken < 10 * MappingBudget::kMostUncounted && budget.Take(2)) taken += 2;
  return taken;
}

TEST(MappingBudget, SoManyAreTakenUncountedAndMoreAfterACount) {
  MappingBudget budget;
  EXPECT_FALSE(budget.WantsCount());
  EXPECT_EQ(TakeAll(budget), MappingBudget::kMostUncounted);
  EXPECT_TRUE(budget.WantsCount());
  budget.Tell(kMost / 2, kMost);
  EXPECT_FALSE(budget.WantsCount());
  EXPECT_EQ(TakeAll(budget), MappingBudget::kMostUncounted);
}

TEST(MappingBudget, NoneAreTakenWhileThereAreTooMany) {
  MappingBudget budget;
  budget.Tell(kMost / 2 + 1, kMost);
  EXPECT_FALSE(budget.Take(1));
  EXPECT_TRUE(budget.WantsCount());
  budget.Tell(100, kMost);
  EXPECT_TRUE(budget.Take(1));
}

}  // namespace
}  // namespace memagent::capture
