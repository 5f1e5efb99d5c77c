#include "agent/capture/stack_trie.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "agent/capture/unwind_objects.h"
#include "tests/unit/capture/stack_oracle.h"

namespace memagent::capture {
namespace {

TEST(StackTrie, SameFrameFromSameParentIsOneNode) {
  const StackId root = InternFrame(StackId::kNone, 0x1000);
  EXPECT_NE(root, StackId::kNone);
  EXPECT_EQ(InternFrame(StackId::kNone, 0x1000), root);
  const StackId child = InternFrame(root, 0x2000);
  EXPECT_EQ(InternFrame(root, 0x2000), child);
  EXPECT_NE(InternFrame(child, 0x2000), child);
  EXPECT_NE(InternFrame(root, 0x2001), child);
}

TEST(StackTrie, NodeGivesBackParentAndFullAddress) {
  const StackId root = InternFrame(StackId::kNone, 0x7fffdeadbeef);
  const StackId child = InternFrame(root, 0x5555'0000'0001);
  StackNode node;
  ASSERT_TRUE(ReadStackNode(child, node));
  EXPECT_EQ(node.parent, root);
  EXPECT_EQ(node.pc, 0x5555'0000'0001u);
  ASSERT_TRUE(ReadStackNode(root, node));
  EXPECT_EQ(node.parent, StackId::kNone);
  EXPECT_EQ(node.pc, 0x7fffdeadbeefu);
}

TEST(StackTrie, UnknownIdsAreNotRead) {
  StackNode node;
  EXPECT_FALSE(ReadStackNode(StackId::kNone, node));
  EXPECT_FALSE(ReadStackNode(StackId{StackCount() + 1}, node));
  EXPECT_FALSE(ReadStackNode(StackId{0xffffffff}, node));
  EXPECT_FALSE(StackWasCut(StackId{0xffffffff}));
}

TEST(StackTrie, CutIsInheritedAndMarkerIsHidden) {
  const StackId outer = InternFrame(CutRoot(), 0x3000);
  const StackId inner = InternFrame(outer, 0x3001);
  EXPECT_TRUE(StackWasCut(outer));
  EXPECT_TRUE(StackWasCut(inner));
  EXPECT_FALSE(StackWasCut(InternFrame(StackId::kNone, 0x3000)));
  StackNode node;
  EXPECT_FALSE(ReadStackNode(CutRoot(), node));
  ASSERT_TRUE(ReadStackNode(outer, node));
  EXPECT_EQ(node.parent, StackId::kNone);
  EXPECT_EQ(node.pc, 0x3000u);
}

TEST(StackTrie, ManyNodesSpillIntoLaterLevelsAndAreFoundAgain) {
  const StackId root = InternFrame(StackId::kNone, 0x4000);
  std::vector<StackId> ids(100000);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = InternFrame(root, 0x500000 + i * 5);
  for (size_t i = 0; i < ids.size(); ++i) {
    ASSERT_EQ(InternFrame(root, 0x500000 + i * 5), ids[i]);
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
}

TEST(StackTrie, ThreadsAgreeOnIds) {
  constexpr size_t kFrames = 20000;
  std::vector<std::vector<StackId>> ids(4, std::vector<StackId>(kFrames));
  std::vector<std::thread> threads;
  for (auto& mine : ids) {
    threads.emplace_back([&mine] {
      StackId parent = StackId::kNone;
      for (size_t i = 0; i < kFrames; ++i) {
        mine[i] = parent = InternFrame(i % 50 == 0 ? StackId::kNone : parent, 0x900000 + i);
        StackNode node;
        EXPECT_TRUE(ReadStackNode(mine[i], node));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& other : ids) EXPECT_EQ(other, ids[0]);
}

TEST(StackTrie, RetiredFrameIsReplacedAndStaysReadable) {
  const StackId root = InternFrame(StackId::kNone, 0x7a0000);
  const StackId old_id = InternFrame(root, 0x7b0100);
  const StackId beside = InternFrame(root, 0x7c0001);
  RetireFrames(0x7b0000, 0x7c0000, 5);  // no library with that identity is there now
  const StackId fresh = InternFrame(root, 0x7b0100);
  EXPECT_NE(fresh, old_id);
  EXPECT_EQ(InternFrame(root, 0x7b0100), fresh);
  EXPECT_EQ(InternFrame(root, 0x7c0001), beside);  // its call is at 0x7c0000
  StackNode node;
  ASSERT_TRUE(ReadStackNode(old_id, node));
  EXPECT_EQ(node.pc, 0x7b0100u);
  EXPECT_EQ(node.parent, root);
}

TEST(StackTrie, FrameComesBackWithItsLibrary) {
  const auto pc = reinterpret_cast<uintptr_t>(&InternFrame) + 8;
  const uint32_t identity = CodeIdentity(pc);
  if (identity == kUnknownCode) GTEST_SKIP() << "this program has no build id";
  const StackId frame = InternFrame(StackId::kNone, pc);
  RetireFrames(pc - 8, pc + 8, identity);
  EXPECT_EQ(InternFrame(StackId::kNone, pc), frame);
  RetireFrames(pc - 8, pc + 8, kUnknownCode);  // of a library without a build id: never the same
  EXPECT_NE(InternFrame(StackId::kNone, pc), frame);
}

// In a child, because a full trie stays full.
int FillTrie() {
  const StackId root = InternFrame(StackId::kNone, 0x6000);
  StackId last = root;
  const uint64_t room = kMaxStackNodes - StackCount();
  for (uint64_t i = 0; i < room; ++i) last = InternFrame(root, 0x10000000 + i);
  if (StackTrieFullCount() != 0) return 6;  // every node has its place
  for (uint64_t i = 0; i < 1000; ++i) last = InternFrame(root, 0x20000000 + i);
  if (last != root) return 1;                 // no room: the parent comes back
  if (StackTrieFullCount() < 1000) return 2;  // and is counted
  if (StackCount() != kMaxStackNodes) return 3;
  StackNode node;
  if (!ReadStackNode(StackId{kMaxStackNodes}, node)) return 4;
  if (InternFrame(StackId::kNone, 0x6000) != root) return 5;  // what is there is still found
  return 0;
}

TEST(StackTrie, FullTableReturnsParentAndCounts) {
  if (kThreadSanitizer) GTEST_SKIP() << "two million insertions take half a minute under TSan";
  const pid_t child = fork();
  if (child == 0) _exit(FillTrie());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace memagent::capture
