#include "agent/decode/x86_function.h"

#include <algorithm>
#include <bit>

namespace memagent::decode {
namespace {

// When the layouts together pass this, all are forgotten: the working set of sampled functions is
// far smaller (a layout is about a fifth of its code), so this is a bound, not a policy.
constexpr size_t kMaxTableBytes = size_t{4} << 20;

}  // namespace

FunctionLayout::FunctionLayout(os::FunctionBounds bounds, std::span<const std::byte> code,
                               const X86Decoder& decoder)
    : bounds_(bounds), starts_(code.size() / 64 + 1) {
  size_t offset = 0;
  while (offset < code.size()) {
    const auto outline = decoder.Outline(bounds.start + offset, code.subspan(offset));
    if (!outline) break;
    Mark(offset);
    AddOutline(bounds.start + offset, *outline);
    offset += outline->length;
  }
  // What follows the last whole instruction is a boundary too: a sample may stand there.
  if (offset <= code.size()) Mark(offset);
  std::sort(branches_.begin(), branches_.end(), [](const DirectBranch& a, const DirectBranch& b) {
    return a.target != b.target ? a.target < b.target : a.source < b.source;
  });
}

void FunctionLayout::AddOutline(uint64_t pc, const InstructionOutline& outline) {
  if (outline.flow == Flow::kIndirectJump) has_indirect_jump_ = true;
  if (outline.flow != Flow::kJump && outline.flow != Flow::kBranch) return;
  if (outline.target - bounds_.start >= bounds_.end - bounds_.start) return;
  branches_.push_back({pc, outline.target});
}

bool FunctionLayout::IsBoundary(uint64_t pc) const {
  const uint64_t offset = pc - bounds_.start;
  if (offset / 64 >= starts_.size()) return false;
  return ((starts_[offset / 64] >> (offset % 64)) & 1) != 0;
}

std::optional<uint64_t> FunctionLayout::Previous(uint64_t pc) const {
  if (!IsBoundary(pc)) return std::nullopt;
  for (uint64_t back = 1; back <= kMaxInstructionBytes && back <= pc - bounds_.start; ++back) {
    if (IsBoundary(pc - back)) return pc - back;
  }
  return std::nullopt;
}

std::span<const DirectBranch> FunctionLayout::BranchesTo(uint64_t pc) const {
  const auto by_target = [](const DirectBranch& branch, uint64_t target) {
    return branch.target < target;
  };
  const auto first = std::lower_bound(branches_.begin(), branches_.end(), pc, by_target);
  const auto last = std::lower_bound(first, branches_.end(), pc + 1, by_target);
  return std::span(first, last);
}

size_t FunctionLayout::size_bytes() const {
  return sizeof(*this) + starts_.size() * sizeof(uint64_t) +
         branches_.capacity() * sizeof(DirectBranch);
}

FunctionTable::Found FunctionTable::Around(uint64_t pc) {
  auto next = functions_.upper_bound(pc);
  if (next != functions_.begin()) {
    const FunctionLayout& candidate = std::prev(next)->second;
    if (pc < candidate.bounds().end) return {&candidate, Miss::kNone};
  }
  const auto bounds = code_.FunctionAt(pc);
  if (!bounds) return {nullptr, Miss::kNoFunction};
  base::Vector<std::byte> bytes(std::min<uint64_t>(bounds->end - bounds->start, kMaxFunctionBytes));
  bytes.resize(code_.Read(bounds->start, bytes));
  if (bytes.empty()) return {nullptr, Miss::kUnreadableCode};
  if (size_bytes_ > kMaxTableBytes) Flush();
  const auto [it, inserted] =
      functions_.insert_or_assign(bounds->start, FunctionLayout(*bounds, bytes, decoder_));
  size_bytes_ += it->second.size_bytes();
  return {&it->second, Miss::kNone};
}

void FunctionTable::Flush() {
  functions_.clear();
  size_bytes_ = 0;
}

}  // namespace memagent::decode
