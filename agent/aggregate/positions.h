// Where in its block an address is: in which 64th. Only of blocks of which a 64th is a page or
// more.
#ifndef MEMAGENT_AGENT_AGGREGATE_POSITIONS_H_
#define MEMAGENT_AGENT_AGGREGATE_POSITIONS_H_

#include <cstdint>
#include <optional>

#include "agent/attribute/attribution.h"

namespace memagent::aggregate {

inline constexpr uint64_t kPositions = 64;
inline constexpr uint64_t kPositionedBytes = kPositions * 4096;

// 0 to 63; nullopt: the block is not known, or too small.
constexpr std::optional<uint32_t> PositionIn(const attribute::Attribution& block,
                                             uint64_t address) {
  const uint64_t offset = address - block.start;
  if (block.size_bytes < kPositionedBytes || offset >= block.size_bytes) return std::nullopt;
  // Of a block of 2^58 bytes or more, which there is none of, the product would not fit.
  return static_cast<uint32_t>(offset * kPositions / block.size_bytes % kPositions);
}

constexpr uint64_t PositionBit(std::optional<uint32_t> position) {
  return position ? uint64_t{1} << *position : 0;
}

// Of the addresses in [start, end) that are in the block.
constexpr uint64_t PositionBits(const attribute::Attribution& block, uint64_t start, uint64_t end) {
  if (start < block.start) start = block.start;
  if (end > block.start + block.size_bytes) end = block.start + block.size_bytes;
  const auto first = PositionIn(block, start);
  const auto last = PositionIn(block, end - 1);
  if (!first || !last || *last < *first) return 0;
  return ~uint64_t{0} >> (kPositions - 1 - *last) & ~uint64_t{0} << *first;
}

}  // namespace memagent::aggregate

#endif  // MEMAGENT_AGENT_AGGREGATE_POSITIONS_H_
