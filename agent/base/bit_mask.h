// 1,024 bits, as the kernel's masks of nodes and of CPUs have them. Plain data; calling thread: any.
#ifndef MEMAGENT_AGENT_BASE_BIT_MASK_H_
#define MEMAGENT_AGENT_BASE_BIT_MASK_H_

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace memagent::base {

struct BitMask {
  static constexpr size_t kBits = 1024;  // MAX_NUMNODES of the kernel, and glibc's cpu_set_t
  static constexpr size_t kWords = kBits / 64;

  std::array<uint64_t, kWords> words = {};

  bool Has(size_t bit) const { return bit < kBits && (words[bit / 64] >> (bit % 64) & 1) != 0; }
  void Set(size_t bit) {
    if (bit < kBits) words[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  bool any() const {
    for (const uint64_t word : words) {
      if (word != 0) return true;
    }
    return false;
  }
  // Calls visit(bit) for each bit that is set, ascending.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (size_t i = 0; i < kWords; ++i) {
      for (uint64_t word = words[i]; word != 0; word &= word - 1) {
        visit(static_cast<uint32_t>(i * 64 + static_cast<size_t>(std::countr_zero(word))));
      }
    }
  }
  auto operator<=>(const BitMask&) const = default;
};

}  // namespace memagent::base

#endif  // MEMAGENT_AGENT_BASE_BIT_MASK_H_
