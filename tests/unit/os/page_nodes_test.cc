#include "agent/os/page_nodes.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <set>
#include <string>
#include <vector>

namespace memagent::os {
namespace {

using ::testing::ElementsAre;

// A kernel that lets through what the test says. Page N * 4096 is on node N % 2, unless absent.
struct FakeCalls {
  long move_pages_error = 0;
  long mempolicy_error = 0;
  long presence_error = 0;
  bool has_numa_maps = true;
  int absent_status = -ENOENT;
  std::set<uint64_t> absent;
  std::set<uint64_t> perhaps_zero;
  std::vector<size_t> batches;
  std::vector<uint64_t> policy_asked;

  PageNodeCalls Calls() { return {this, MovePages, GetMempolicy, Presence, ReadNumaMaps}; }

  static FakeCalls& Self(void* context) { return *static_cast<FakeCalls*>(context); }
  static long MovePages(void* context, std::span<const uint64_t> pages, int* status) {
    FakeCalls& self = Self(context);
    if (self.move_pages_error != 0) return self.move_pages_error;
    self.batches.push_back(pages.size());
    for (size_t i = 0; i < pages.size(); ++i) {
      const bool absent = self.absent.count(pages[i]) != 0;
      status[i] = absent ? self.absent_status : static_cast<int>(pages[i] / 4096 % 2);
    }
    return 0;
  }
  static long GetMempolicy(void* context, uint64_t page) {
    FakeCalls& self = Self(context);
    if (self.mempolicy_error != 0) return self.mempolicy_error;
    self.policy_asked.push_back(page);
    return static_cast<long>(page / 4096 % 2);
  }
  static long Presence(void* context, uint64_t page) {
    FakeCalls& self = Self(context);
    if (self.presence_error != 0) return self.presence_error;
    if (self.perhaps_zero.count(page) != 0) return kPerhapsZeroPage;
    return self.absent.count(page) != 0 ? kAbsent : kPresent;
  }
  static std::optional<base::String> ReadNumaMaps(void* context) {
    if (!Self(context).has_numa_maps) return std::nullopt;
    return base::String(
        "00001000 default anon=2 dirty=2 N1=2 kernelpagesize_kB=4\n"
        "00004000 default file=/a\\040N7=3 mapped=3 N0=1 N1=2 kernelpagesize_kB=4\n"
        "00008000 default\n");
  }
};

std::string Text(const PageAnswer& answer) {
  if (answer.state == PageState::kNotPresent) return "absent";
  if (answer.state == PageState::kUnknown) return "unknown";
  return "node" + std::to_string(static_cast<int>(answer.node));
}

std::vector<std::string> Ask(PageNodes& nodes, const std::vector<uint64_t>& pages) {
  std::vector<PageAnswer> answers(pages.size());
  nodes.Lookup(pages, answers);
  std::vector<std::string> texts;
  for (const PageAnswer& answer : answers) texts.push_back(Text(answer));
  return texts;
}

TEST(PageNodes, MovePagesIsTheFirstRung) {
  FakeCalls fake;
  fake.absent = {0x3000};
  PageNodes nodes(fake.Calls());
  EXPECT_THAT(Ask(nodes, {0x1000, 0x2000, 0x3000}), ElementsAre("node1", "node0", "absent"));
  EXPECT_EQ(RungName(nodes.rung()), "move_pages");
  EXPECT_EQ(nodes.ErrorOf(PageNodeRung::kMovePages), 0);
}

TEST(PageNodes, EfaultOfAPageIsNotPresentAndOthersAreUnknown) {
  FakeCalls fake;
  fake.absent = {0x1000};
  fake.absent_status = -EFAULT;
  PageNodes nodes(fake.Calls());
  EXPECT_THAT(Ask(nodes, {0x1000}), ElementsAre("absent"));
  fake.absent_status = -EIO;
  EXPECT_THAT(Ask(nodes, {0x1000}), ElementsAre("unknown"));
}

TEST(PageNodes, LargeBatchesAreSplit) {
  FakeCalls fake;
  PageNodes nodes(fake.Calls());
  std::vector<uint64_t> pages;
  for (uint64_t i = 0; i < 2500; ++i) pages.push_back(i * 4096);
  const auto texts = Ask(nodes, pages);
  EXPECT_THAT(fake.batches, ElementsAre(1024, 1024, 452));
  for (size_t i = 0; i < pages.size(); ++i) ASSERT_EQ(texts[i], i % 2 == 0 ? "node0" : "node1");
}

TEST(PageNodes, RefusedMovePagesStepsDownForGood) {
  FakeCalls fake;
  fake.move_pages_error = -EPERM;
  PageNodes nodes(fake.Calls());
  EXPECT_THAT(Ask(nodes, {0x1000, 0x2000}), ElementsAre("node1", "node0"));
  EXPECT_EQ(nodes.rung(), PageNodeRung::kGetMempolicy);
  EXPECT_EQ(nodes.ErrorOf(PageNodeRung::kMovePages), EPERM);
  fake.move_pages_error = 0;
  Ask(nodes, {0x1000});
  EXPECT_TRUE(fake.batches.empty());
}

TEST(PageNodes, MempolicyIsNeverAskedForAnAbsentPage) {
  FakeCalls fake;
  fake.move_pages_error = -ENOSYS;
  fake.absent = {0x2000};
  PageNodes nodes(fake.Calls());
  EXPECT_THAT(Ask(nodes, {0x1000, 0x2000}), ElementsAre("node1", "absent"));
  EXPECT_THAT(fake.policy_asked, ElementsAre(0x1000));
}

TEST(PageNodes, MempolicyIsPassedOverWithoutPagemap) {
  FakeCalls fake;
  fake.move_pages_error = -EPERM;
  fake.presence_error = -EACCES;
  PageNodes nodes(fake.Calls());
  EXPECT_THAT(Ask(nodes, {0x1000}), ElementsAre("node1"));
  EXPECT_EQ(nodes.rung(), PageNodeRung::kNumaMaps);
  EXPECT_EQ(nodes.ErrorOf(PageNodeRung::kGetMempolicy), EACCES);
  EXPECT_TRUE(fake.policy_asked.empty());
}

TEST(PageNodes, NumaMapsAnswersOnlyForMappingsOnOneNode) {
  FakeCalls fake;
  fake.move_pages_error = -EPERM;
  fake.mempolicy_error = -EPERM;
  fake.absent = {0x2000};
  PageNodes nodes(fake.Calls());
  EXPECT_THAT(Ask(nodes, {0x1000, 0x2000, 0x5000, 0x8000, 0}),
              ElementsAre("node1", "absent", "unknown", "unknown", "unknown"));
  EXPECT_EQ(RungName(nodes.rung()), "numa_maps");
}

TEST(PageNodes, PageThatMayBeTheZeroPageIsUnknownBelowMovePages) {
  FakeCalls fake;
  fake.move_pages_error = -EPERM;
  fake.perhaps_zero = {0x1000};
  PageNodes nodes(fake.Calls());
  EXPECT_THAT(Ask(nodes, {0x1000, 0x2000}), ElementsAre("unknown", "node0"));
  EXPECT_THAT(fake.policy_asked, ElementsAre(0x2000));
  fake.mempolicy_error = -EPERM;
  EXPECT_THAT(Ask(nodes, {0x1000, 0x2000}), ElementsAre("unknown", "node1"));
  EXPECT_EQ(nodes.rung(), PageNodeRung::kNumaMaps);
}

TEST(PageNodes, NothingLeftLeavesAllUnknown) {
  FakeCalls fake;
  fake.move_pages_error = -EPERM;
  fake.mempolicy_error = -ENOSYS;
  fake.has_numa_maps = false;
  PageNodes nodes(fake.Calls());
  EXPECT_THAT(Ask(nodes, {0x1000}), ElementsAre("unknown"));
  EXPECT_EQ(RungName(nodes.rung()), "none");
  EXPECT_THAT(Ask(nodes, {0x1000}), ElementsAre("unknown"));
}

TEST(PageNodes, StepDownInTheMiddleKeepsEarlierAnswers) {
  FakeCalls fake;
  PageNodeCalls calls = fake.Calls();
  calls.move_pages = [](void* context, std::span<const uint64_t> pages, int* status) -> long {
    FakeCalls& self = FakeCalls::Self(context);
    return self.batches.empty() ? FakeCalls::MovePages(context, pages, status) : -EPERM;
  };
  PageNodes nodes(calls);
  std::vector<uint64_t> pages;
  for (uint64_t i = 0; i < 1030; ++i) pages.push_back(i * 4096);
  const auto texts = Ask(nodes, pages);
  for (size_t i = 0; i < pages.size(); ++i) ASSERT_EQ(texts[i], i % 2 == 0 ? "node0" : "node1");
  EXPECT_EQ(fake.policy_asked.size(), 6u);
}

TEST(ParseNumaMapsLine, PolicyAndPathDoNotConfuse) {
  const auto mapping =
      ParseNumaMapsLine("7f00 bind:0-1 file=/N1/x anon=1 N3=1 kernelpagesize_kB=4");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(mapping->start, 0x7f00u);
  EXPECT_EQ(mapping->only_node, NodeId{3});
  EXPECT_FALSE(ParseNumaMapsLine("").has_value());
  EXPECT_FALSE(ParseNumaMapsLine("zz default").has_value());
}

// Four anonymous pages of which the second is touched.
class LivePages : public ::testing::Test {
 protected:
  void SetUp() override {
    page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    memory_ = static_cast<char*>(
        mmap(nullptr, 4 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(memory_, MAP_FAILED);
    madvise(memory_, 4 * page_, MADV_NOHUGEPAGE);
    memory_[page_] = 1;
  }
  void TearDown() override { munmap(memory_, 4 * page_); }
  std::vector<uint64_t> Pages() const {
    const auto start = reinterpret_cast<uint64_t>(memory_);
    return {start + 10, start + page_ + 10, start + 2 * page_};
  }
  bool IsPresent(size_t index) const {
    unsigned char state = 0;
    mincore(memory_ + index * page_, page_, &state);
    return (state & 1) != 0;
  }
  size_t page_ = 0;
  char* memory_ = nullptr;
};

TEST_F(LivePages, TouchedPageHasANodeAndUntouchedStayUntouched) {
  PageNodes nodes;
  const auto texts = Ask(nodes, Pages());
  if (nodes.rung() != PageNodeRung::kMovePages) {
    GTEST_SKIP() << "move_pages is refused here, errno " << nodes.ErrorOf(PageNodeRung::kMovePages);
  }
  EXPECT_EQ(texts[0], "absent");
  EXPECT_EQ(texts[1].substr(0, 4), "node");
  EXPECT_EQ(texts[2], "absent");
  EXPECT_FALSE(IsPresent(0) || IsPresent(2));
}

// The real calls from the second rung on.
TEST_F(LivePages, LowerRungsAgreeAndFaultNothingIn) {
  PageNodes first;
  const auto expected = Ask(first, Pages());
  if (first.rung() != PageNodeRung::kMovePages) GTEST_SKIP() << "move_pages is refused here";
  for (const auto start : {PageNodeRung::kGetMempolicy, PageNodeRung::kNumaMaps}) {
    PageNodes nodes(start);
    const auto texts = Ask(nodes, Pages());
    if (nodes.rung() != start) {
      printf("[ note ] %s is refused here: not compared\n", std::string(RungName(start)).c_str());
      continue;
    }
    EXPECT_EQ(texts, expected) << RungName(start);
    EXPECT_FALSE(IsPresent(0) || IsPresent(2)) << RungName(start);
  }
}

}  // namespace
}  // namespace memagent::os
