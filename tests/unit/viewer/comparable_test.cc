#include "viewer/comparable.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/viewer/sample_profiles.h"

namespace memagent::viewer {
namespace {

// A run whose threads made so many samples each.
View ThreadsWith(const std::vector<uint64_t>& samples) {
  View view;
  uint32_t id = 0;
  for (const uint64_t count : samples) {
    ThreadView thread;
    thread.id = ++id;
    thread.tally.attributed = thread.tally.seen = count;
    view.tally.attributed += count;
    view.tally.seen += count;
    view.threads.push_back(thread);
  }
  return view;
}

bool SameThreads(const std::vector<uint64_t>& before, const std::vector<uint64_t>& after) {
  return CompareSettings(ThreadsWith(before), ThreadsWith(after)).threads;
}

TEST(Comparable, ThreadNearTheLineOfBusyOnesIsNoDifference) {
  // The even share is 1000; the main thread makes a quarter of it, give or take.
  EXPECT_TRUE(SameThreads({1250, 1250, 1249, 251}, {1250, 1250, 1251, 249}));
  EXPECT_TRUE(SameThreads({1180, 1180, 1180, 460}, {1280, 1280, 1280, 160}));
}

TEST(Comparable, IdleThreadsDoNotCount) {
  EXPECT_TRUE(SameThreads({1000, 1000, 1, 2}, {1000, 1000, 3}));
  EXPECT_TRUE(SameThreads({}, {}));
}

TEST(Comparable, OtherNumberOfBusyThreadsIsADifference) {
  EXPECT_FALSE(SameThreads({1000, 1000}, {1000, 1000, 1000, 1000}));
  EXPECT_FALSE(SameThreads({1000, 1000, 10}, {1000, 1000, 900}));
  const Comparability found =
      CompareSettings(ThreadsWith({1000, 1000, 10}), ThreadsWith({1000, 1000, 900}));
  ASSERT_EQ(found.differences.size(), 1u);
  EXPECT_EQ(found.differences[0], "busy threads (2 / 3)");
}

// Modules with their build-ids.
View RunWith(const std::vector<std::pair<std::string, std::string>>& builds) {
  ProfileBuilder b;
  FillHeader(b, 1);
  for (const auto& [path, build] : builds) b.Module(path, build);
  profile::LoadResult result = profile::ParseProfile(b.Bytes(), "test.memagent");
  View view;
  view.profile = std::move(*result.profile);
  return view;
}

TEST(Comparable, SameCodeNeedsTheBuildOfEveryModule) {
  const View view = RunWith({{"/opt/demo/stencil", "1"}, {"/lib/a.so", "2"}});
  EXPECT_TRUE(IsSameCode(view, view));
  EXPECT_TRUE(IsSameCode(view, RunWith({{"/opt/demo/stencil", "1"}, {"/lib/b.so", "3"}})));
  EXPECT_FALSE(IsSameCode(view, RunWith({{"/opt/demo/stencil", "1"}, {"/lib/a.so", "3"}})));
  EXPECT_FALSE(IsSameCode(view, RunWith({{"/opt/demo/stencil", "4"}, {"/lib/a.so", "2"}})));
  const View unknown = RunWith({{"/opt/demo/stencil", ""}});
  EXPECT_FALSE(IsSameCode(unknown, unknown));
}

}  // namespace
}  // namespace memagent::viewer
