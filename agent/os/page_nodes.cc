#include "agent/os/page_nodes.h"

#include <errno.h>
#include <linux/mempolicy.h>

#include <algorithm>

#include "agent/base/syscall.h"
#include "agent/os/machine.h"
#include "agent/os/sandbox_probe.h"

namespace memagent::os {
namespace {

using base::Syscall;

constexpr size_t kMaxBatch = 1024;
constexpr size_t kMaxNumaMapsBytes = size_t{64} << 20;
// Documentation/admin-guide/mm/pagemap.rst. The zero page is neither of a file nor mapped once.
constexpr uint64_t kPagemapPresent = uint64_t{1} << 63;
constexpr uint64_t kPagemapFileOrShared = uint64_t{1} << 61;
constexpr uint64_t kPagemapMappedOnce = uint64_t{1} << 56;

long RealMovePages(void*, std::span<const uint64_t> pages, int* status) {
  if (PageQuestionsForbidden()) return -EPERM;
  return Syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, status, 0);
}

long RealGetMempolicy(void*, uint64_t page) {
  if (PageQuestionsForbidden()) return -EPERM;
  int node = -1;
  const long result =
      Syscall(SYS_get_mempolicy, &node, nullptr, 0, page, MPOL_F_NODE | MPOL_F_ADDR);
  return result < 0 ? result : node;
}

// `context` is the descriptor of pagemap, opened at the first question.
long RealPresence(void* context, uint64_t page) {
  auto& pagemap = *static_cast<UniqueFd*>(context);
  if (!pagemap.valid()) pagemap = OpenRead("/proc/thread-self/pagemap");
  if (!pagemap.valid()) return pagemap.get();
  uint64_t entry = 0;
  const uint64_t offset = page / PageBytes() * sizeof(entry);
  const long got = Syscall(SYS_pread64, pagemap.get(), &entry, sizeof(entry), offset);
  if (got < 0) return got;
  if (got != sizeof(entry) || (entry & kPagemapPresent) == 0) return kAbsent;
  return (entry & (kPagemapFileOrShared | kPagemapMappedOnce)) != 0 ? kPresent : kPerhapsZeroPage;
}

std::optional<base::String> RealReadNumaMaps(void*) {
  return ReadWholeFile("/proc/thread-self/numa_maps", kMaxNumaMapsBytes);
}

PageAnswer AnswerOf(long status) {
  if (status >= 0) return {PageState::kOnNode, static_cast<NodeId>(status)};
  // move_pages(2): -ENOENT not present; -EFAULT the zero page, or no mapping (older kernels: also
  // not present). Neither has a node of its own.
  if (status == -ENOENT || status == -EFAULT) return {PageState::kNotPresent, NodeId::kUnknown};
  return {};
}

base::Vector<NumaMapping> ParseNumaMaps(std::string_view text) {
  base::Vector<NumaMapping> mappings;
  while (!text.empty()) {
    if (const auto mapping = ParseNumaMapsLine(TakeUntil(text, '\n'))) mappings.push_back(*mapping);
  }
  return mappings;
}

// The mapping that starts last at or before `page`. numa_maps does not say where it ends.
NodeId NodeIn(const base::Vector<NumaMapping>& mappings, uint64_t page) {
  const auto after =
      std::upper_bound(mappings.begin(), mappings.end(), page,
                       [](uint64_t value, const NumaMapping& m) { return value < m.start; });
  return after == mappings.begin() ? NodeId::kUnknown : std::prev(after)->only_node;
}

}  // namespace

std::string_view RungName(PageNodeRung rung) {
  constexpr std::string_view kNames[] = {"move_pages", "get_mempolicy", "numa_maps", "none"};
  return kNames[static_cast<size_t>(rung)];
}

std::optional<NumaMapping> ParseNumaMapsLine(std::string_view line) {
  NumaMapping mapping;
  const auto start = ParseUnsigned(TakeUntil(line, ' '), 16);
  if (!start || line.empty()) return std::nullopt;
  mapping.start = *start;
  TakeUntil(line, ' ');  // the policy
  size_t nodes = 0;
  while (!line.empty()) {
    std::string_view word = TakeUntil(line, ' ');
    if (!word.starts_with('N')) continue;
    word.remove_prefix(1);
    const auto node = ParseUnsigned(TakeUntil(word, '='));
    const auto pages = ParseUnsigned(word);
    if (!node || !pages || *node > INT16_MAX) continue;  // a part of a path, after a blank in it
    mapping.only_node = ++nodes == 1 ? static_cast<NodeId>(*node) : NodeId::kUnknown;
  }
  return mapping;
}

PageNodes::PageNodes(PageNodeRung first)
    : calls_{&pagemap_, RealMovePages, RealGetMempolicy, RealPresence, RealReadNumaMaps},
      rung_(first) {}

void PageNodes::Lookup(std::span<const uint64_t> pages, std::span<PageAnswer> answers) {
  std::fill(answers.begin(), answers.end(), PageAnswer{});
  while (!pages.empty() && rung_ != PageNodeRung::kNone) {
    // numa_maps costs the same for one page and for all.
    const size_t count =
        rung_ == PageNodeRung::kNumaMaps ? pages.size() : std::min(pages.size(), kMaxBatch);
    const long result = LookupOnRung(pages.first(count), answers.first(count));
    if (result < 0) {
      StepDown(result);
      continue;
    }
    pages = pages.subspan(count);
    answers = answers.subspan(count);
  }
}

long PageNodes::LookupOnRung(std::span<const uint64_t> pages, std::span<PageAnswer> answers) {
  switch (rung_) {
    case PageNodeRung::kMovePages:
      return ByMovePages(pages, answers);
    case PageNodeRung::kGetMempolicy:
      return ByMempolicy(pages, answers);
    case PageNodeRung::kNumaMaps:
      return ByNumaMaps(pages, answers);
    case PageNodeRung::kNone:
      break;
  }
  return 0;
}

long PageNodes::ByMovePages(std::span<const uint64_t> pages, std::span<PageAnswer> answers) {
  int status[kMaxBatch];
  const long result = calls_.move_pages(calls_.context, pages, status);
  if (result < 0) return result;
  for (size_t i = 0; i < pages.size(); ++i) answers[i] = AnswerOf(status[i]);
  return 0;
}

long PageNodes::ByMempolicy(std::span<const uint64_t> pages, std::span<PageAnswer> answers) {
  for (size_t i = 0; i < pages.size(); ++i) {
    const long presence = calls_.presence(calls_.context, pages[i]);
    if (presence < 0) return presence;
    if (presence == kPerhapsZeroPage) continue;
    const long status =
        presence == kPresent ? calls_.get_mempolicy(calls_.context, pages[i]) : -ENOENT;
    // -EFAULT: unmapped since it was seen present.
    if (status < 0 && status != -ENOENT && status != -EFAULT) return status;
    answers[i] = AnswerOf(status);
  }
  return 0;
}

long PageNodes::ByNumaMaps(std::span<const uint64_t> pages, std::span<PageAnswer> answers) {
  const std::optional<base::String> text = calls_.read_numa_maps(calls_.context);
  if (!text || text->empty()) return -ENOENT;
  const base::Vector<NumaMapping> mappings = ParseNumaMaps(*text);
  for (size_t i = 0; i < pages.size(); ++i) {
    // Where pagemap can't tell (a negative errno), the mapping's node is the best answer there is.
    const long presence = calls_.presence(calls_.context, pages[i]);
    if (presence == kAbsent) answers[i] = {PageState::kNotPresent, NodeId::kUnknown};
    if (presence == kAbsent || presence == kPerhapsZeroPage) continue;
    const NodeId node = NodeIn(mappings, pages[i]);
    if (node != NodeId::kUnknown) answers[i] = {PageState::kOnNode, node};
  }
  return 0;
}

void PageNodes::StepDown(long error) {
  errors_[static_cast<size_t>(rung_)] = static_cast<int>(-error);
  rung_ = static_cast<PageNodeRung>(static_cast<uint8_t>(rung_) + 1);
}

}  // namespace memagent::os
