// Synthetic profiles for the viewer's tests, as the viewer sees them.
#ifndef MEMAGENT_TESTS_UNIT_VIEWER_SAMPLE_PROFILES_H_
#define MEMAGENT_TESTS_UNIT_VIEWER_SAMPLE_PROFILES_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "agent/profile/reader.h"
#include "tests/support/stencil_profile.h"
#include "viewer/query.h"

namespace memagent::viewer {

using namespace tests;  // NOLINT: the builders of tests/support/stencil_profile.h

inline View ViewOf(const std::string& bytes) {
  profile::LoadResult result = profile::ParseProfile(bytes, "test.memagent");
  EXPECT_TRUE(result.profile.has_value()) << result.problem;
  EXPECT_TRUE(result.warnings.empty()) << result.warnings.front();
  if (!result.profile) return {};
  return BuildView(std::move(*result.profile), {.lines = false});
}

}  // namespace memagent::viewer

#endif  // MEMAGENT_TESTS_UNIT_VIEWER_SAMPLE_PROFILES_H_
