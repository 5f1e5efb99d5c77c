// Random call trees: every capture is compared with backtrace(), so that a shape which matches a
// stack it should not match can't hide.
#include <alloca.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/unit/capture/stack_oracle.h"

namespace memagent::capture {
namespace {

constexpr int kRounds = kSanitizer ? 2000 : 70000;  // at least three captures each

struct Random {
  uint64_t state;
  unsigned Below(unsigned n) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<unsigned>(state >> 33) % n;
  }
};

struct Tree {
  Random random{1};
  StackCache* cache = nullptr;
  uint64_t captures = 0;
  uint64_t mismatches = 0;
  uint64_t depth_sum = 0;
};

[[gnu::noinline]] void Leaf(Tree& tree) {
  const FrameStart start = MEMAGENT_CALLER();
  const StackId id = CaptureStack(start, tree.cache);
  void* raw[256];
  const int count = GlibcBacktrace(raw, 256);
  ++tree.captures;
  // raw[0] is this function.
  StackId node_id = id;
  bool same = true;
  for (int i = 1; i < count; ++i) {
    StackNode node;
    same = same && ReadStackNode(node_id, node) && node.pc == reinterpret_cast<uintptr_t>(raw[i]);
    node_id = node.parent;
  }
  if (!same || node_id != StackId::kNone) ++tree.mismatches;
  tree.depth_sum += static_cast<uint64_t>(count);
}

void Grow(Tree& tree, int depth);

[[gnu::noinline]] void Plain(Tree& tree, int depth) {
  Grow(tree, depth);
  asm volatile("");
}
[[gnu::noinline]] void TwoSites(Tree& tree, int depth) {
  if ((tree.random.state >> 40 & 1) != 0) {
    Grow(tree, depth);
    asm volatile("");
  } else {
    Grow(tree, depth);
    asm volatile("nop");
  }
}
[[gnu::noinline]] void SavesFp(Tree& tree, int depth) {
  // rbp is an ordinary callee-saved register here: saved, clobbered, restored.
  asm volatile("" : : : "rbx", "r12", "r13");
  uint64_t a = tree.random.state, b = a * 3, c = b ^ 5, d = c + 7, e = d * 11, f = e ^ a;
  Grow(tree, depth);
  asm volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
}
[[gnu::noinline]] void Dynamic(Tree& tree, int depth) {
  void* p = alloca(16 + tree.random.Below(3) * 64);
  asm volatile("" : : "r"(p) : "memory");
  Grow(tree, depth);
  asm volatile("");
}
[[gnu::noinline]] void Aligned(Tree& tree, int depth) {
  alignas(64) char buffer[64];
  asm volatile("" : : "r"(buffer) : "memory");
  Grow(tree, depth);
  asm volatile("" : : "r"(buffer) : "memory");
}

thread_local Tree* qsort_tree;
thread_local int qsort_depth;
int QsortStep(const void*, const void*) {
  Grow(*qsort_tree, qsort_depth);
  asm volatile("");
  return 0;
}
[[gnu::noinline]] void ThroughQsort(Tree& tree, int depth) {
  int pair[2] = {1, 2};
  qsort_tree = &tree;
  qsort_depth = depth;
  qsort(pair, 2, sizeof(int), QsortStep);
}

[[gnu::noinline]] void Grow(Tree& tree, int depth) {
  using Function = void (*)(Tree&, int);
  static constexpr Function kFunctions[] = {Plain,   TwoSites, TwoSites,    SavesFp,
                                            Dynamic, Aligned,  ThroughQsort};
  if (depth == 0) {
    Leaf(tree);
  } else {
    kFunctions[tree.random.Below(7)](tree, depth - 1);
  }
  asm volatile("");
}

void RunTree(Tree& tree, int rounds) {
  tree.cache = CreateStackCache();
  for (int round = 0; round < rounds; ++round) {
    // Few seeds, so that stacks come back; each is grown three times in different company.
    const uint64_t seed = tree.random.Below(round < rounds / 2 ? 200 : 20000);
    const uint64_t kept = tree.random.state;
    tree.random.state = seed * 0x9e3779b97f4a7c15;
    for (int i = 0; i < 3; ++i) {
      asm volatile("" : : "r"(&tree) : "memory");
      Grow(tree, static_cast<int>(tree.random.Below(14)));
    }
    tree.random.state = kept;
  }
}

TEST(StackStress, RandomCallTreesMatchBacktrace) {
  GlibcBacktrace(std::vector<void*>(8).data(), 8);
  const StackStatistics before = ReadStackStatistics();
  Tree tree;
  RunTree(tree, kRounds);
  const StackStatistics after = ReadStackStatistics();
  EXPECT_EQ(tree.mismatches, 0u);
  EXPECT_GE(tree.captures, static_cast<uint64_t>(kRounds) * 3);
  EXPECT_GT(after.hits - before.hits, tree.captures / 4);
  EXPECT_GT(after.misses - before.misses, 1000u);
  printf("%lu captures, mean depth %.1f, %.1f %% hits, %u trie nodes\n", tree.captures,
         static_cast<double>(tree.depth_sum) / static_cast<double>(tree.captures),
         100.0 * static_cast<double>(after.hits - before.hits) / static_cast<double>(tree.captures),
         StackCount());
}

TEST(StackStress, ThreadsShareRulesAndTrie) {
  GlibcBacktrace(std::vector<void*>(8).data(), 8);
  std::vector<Tree> trees(4);
  std::vector<std::thread> threads;
  for (Tree& tree : trees) threads.emplace_back([&tree] { RunTree(tree, kRounds / 20); });
  for (int i = 0; i < 20; ++i) {
    FlushStackCaches();
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  for (const Tree& tree : trees) EXPECT_EQ(tree.mismatches, 0u);
}

}  // namespace
}  // namespace memagent::capture
