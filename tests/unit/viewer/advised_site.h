// What is advised for a site that was built, with the view that it is from.
#ifndef MEMAGENT_TESTS_UNIT_VIEWER_ADVISED_SITE_H_
#define MEMAGENT_TESTS_UNIT_VIEWER_ADVISED_SITE_H_

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/viewer/placed_site.h"
#include "viewer/advice.h"

namespace memagent::viewer {

struct Given {
  View view;
  Diagnosis diagnosis;

  std::vector<AdviceKind> Kinds() const {
    std::vector<AdviceKind> kinds;
    for (const Advice& advice : diagnosis.advice) kinds.push_back(advice.kind);
    return kinds;
  }
  const Advice& First() const { return diagnosis.advice.at(0); }
  const Advice* Find(AdviceKind kind) const {
    for (const Advice& advice : diagnosis.advice) {
      if (advice.kind == kind) return &advice;
    }
    return nullptr;
  }
};

inline Given AdviceOn(PlacedSite& site) {
  Given given;
  given.view = site.Build();
  given.diagnosis = Diagnose(given.view, given.view.sites.at(0));
  EXPECT_FALSE(given.diagnosis.advice.empty());
  return given;
}

inline void ExpectPrediction(const Advice& advice, double remote) {
  ASSERT_TRUE(advice.after.has_value());
  EXPECT_NEAR(advice.after->remote, remote, 0.001);
  EXPECT_LE(advice.after->interval.low, advice.after->remote);
  EXPECT_GE(advice.after->interval.high, advice.after->remote);
}

}  // namespace memagent::viewer

#endif  // MEMAGENT_TESTS_UNIT_VIEWER_ADVISED_SITE_H_
