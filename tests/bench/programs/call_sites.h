// 16 call sites of malloc at depth 12, and a loop that allocates and frees through them.
#ifndef MEMAGENT_TESTS_BENCH_PROGRAMS_CALL_SITES_H_
#define MEMAGENT_TESTS_BENCH_PROGRAMS_CALL_SITES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

inline void* Keep(void* block) {
  asm volatile("" : "+r"(block) : : "memory");  // no tail call, and the block counts as used
  return block;
}

template <int kSite, int kDepth>
[[gnu::noinline]] void* Allocate(size_t bytes) {
  if constexpr (kDepth == 0) {
    return Keep(malloc(bytes));
  } else {
    return Keep(Allocate<kSite, kDepth - 1>(bytes));
  }
}

template <int... kSites>
constexpr auto MakeTable(std::integer_sequence<int, kSites...>) {
  using Function = void* (*)(size_t);
  return std::array<Function, sizeof...(kSites)>{&Allocate<kSites, 10>...};
}
inline constexpr auto kCallSites = MakeTable(std::make_integer_sequence<int, 16>());

// Chooses call sites and sizes of 16 to 256 bytes (Knuth's MMIX generator).
class Chance {
 public:
  void Step() { state_ = state_ * 6364136223846793005ull + 1442695040888963407ull; }
  void* Block() const {
    return kCallSites[state_ >> 40 & 15](16 + (state_ >> 45 & 255) % 241);
  }
  size_t Below(uint64_t limit) const { return (state_ >> 32) * limit >> 32; }

 private:
  uint64_t state_ = 1;
};

// A fixed number of live blocks, one of which is replaced in each pair.
class Window {
 public:
  explicit Window(size_t live) : blocks_(live) {
    for (void*& block : blocks_) Replace(block);
  }
  ~Window() {
    for (void* block : blocks_) free(block);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  void RunPairs(long pairs) {
    for (long i = 0; i < pairs; ++i) Replace(blocks_[chance_.Below(blocks_.size())]);
  }

 private:
  void Replace(void*& place) {
    chance_.Step();
    free(place);
    place = chance_.Block();
  }

  std::vector<void*> blocks_;
  Chance chance_;
};

#endif  // MEMAGENT_TESTS_BENCH_PROGRAMS_CALL_SITES_H_
