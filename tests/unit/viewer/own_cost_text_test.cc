#include "viewer/own_cost_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memagent::viewer {
namespace {

using memagent::v1::CostPart;
using memagent::v1::OwnCost;
using testing::HasSubstr;
using testing::Not;

struct PartOf {
  const char* what;
  const char* inside;
  CostPart::Basis basis;
  uint64_t count;
  uint64_t samples;
  uint64_t mean_picos;
  uint64_t total_nanos;
  uint64_t error_nanos;
};

void Add(OwnCost& cost, const PartOf& from) {
  CostPart& part = *cost.add_part();
  part.set_what(from.what);
  part.set_inside(from.inside);
  part.set_basis(from.basis);
  part.set_count(from.count);
  part.set_samples(from.samples);
  part.set_mean_picos(from.mean_picos);
  part.set_total_nanos(from.total_nanos);
  part.set_error_nanos(from.error_nanos);
}

// 1 s of the program's own and 31 ms of ours.
View ViewWithCost() {
  View view;
  OwnCost& cost = view.profile.own_cost;
  cost.set_process_cpu_nanos(1'031'000'000);
  cost.set_estimated_nanos(31'000'000);
  cost.set_estimated_error_nanos(1'000'000);
  Add(cost, {"allocation", "", CostPart::SAMPLED, 400'000, 390, 58'300, 23'320'000, 900'000});
  Add(cost, {"drain", "", CostPart::COUNTED, 1, 0, 0, 7'000'000, 0});
  Add(cost, {"access_sample", "", CostPart::ASSUMED, 400, 0, 1'500'000, 600'000, 0});
  Add(cost, {"stack_look_up", "allocation", CostPart::SAMPLED, 400'000, 100, 30'000, 12'000'000, 0});
  auto& held = *cost.add_held();
  held.set_what("index");
  held.set_resident_bytes(2 << 20);
  return view;
}

TEST(OwnCostText, SaysTheShareItsIntervalAndTheParts) {
  const std::string text = OwnCostText(ViewWithCost(), Terminal());
  EXPECT_THAT(text, HasSubstr("memagent's own cost: about 3.1 % of the program's own CPU time "
                              "(3.0–3.2): allocations 2.3 % (58.3 ns each), drain thread 0.7 %"));
  EXPECT_THAT(text, Not(HasSubstr("look-up")));  // it is inside allocations
}

TEST(OwnCostText, NothingWithoutAnEstimate) {
  View view;
  view.profile.own_cost.set_drain_cpu_nanos(5'000'000);
  EXPECT_EQ(OwnCostText(view, Terminal()), "");
  const auto rows = OwnCostRows(view, Terminal());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].text, "5.00 ms");
}

TEST(OwnCostText, RowsSayHowEachFigureWasObtained) {
  const auto rows = OwnCostRows(ViewWithCost(), Terminal());
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_THAT(rows[0].text, HasSubstr("31.0 ms of 1.03 s"));
  EXPECT_EQ(rows[1].text, "400,000 at 58.3 ns: 23.3 ms ±900 us; 390 timed in place");
  EXPECT_EQ(rows[2].text, "7.00 ms; by the kernel's clock of CPU time");
  EXPECT_EQ(rows[3].text, "400 at 1.50 us: 600 us; assumed: as on other machines");
  EXPECT_THAT(rows[4].text, HasSubstr("12.0 ms of the allocations"));
  EXPECT_EQ(rows[5].text, "index 2.00 MiB");
}

// A newer agent's part, or a hostile name.
TEST(OwnCostText, AnUnknownPartIsShownByItsName) {
  View view = ViewWithCost();
  Add(view.profile.own_cost, {"new\x1b[2Jpart", "", CostPart::TRIED, 1, 0, 1000, 5'000'000, 0});
  EXPECT_THAT(OwnCostText(view, Terminal()), HasSubstr("new?[2Jpart 0.5 %"));
}

TEST(OwnCostShare, IsOfTheProgramsOwnTime) {
  EXPECT_NEAR(OwnCostShare(ViewWithCost().profile.own_cost), 0.031, 1e-9);
  OwnCost cost;
  cost.set_estimated_nanos(10);  // more than the process took
  EXPECT_EQ(OwnCostShare(cost), 0);
}

}  // namespace
}  // namespace memagent::viewer
