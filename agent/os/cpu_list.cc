#include "agent/os/cpu_list.h"

#include "agent/os/file.h"

namespace memagent::os {
namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};

std::optional<Range> ParseRange(std::string_view text) {
  const bool is_range = text.find('-') != std::string_view::npos;
  const auto first = ParseUnsigned(TakeUntil(text, '-'));
  const auto last = is_range ? ParseUnsigned(text) : first;
  if (!first || !last || *last < *first || *last >= kMaxListedNumber) return std::nullopt;
  return Range{static_cast<uint32_t>(*first), static_cast<uint32_t>(*last)};
}

}  // namespace

std::optional<base::Vector<uint32_t>> ParseCpuList(std::string_view text) {
  base::Vector<uint32_t> numbers;
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with(',')) return std::nullopt;
  while (!text.empty()) {
    const auto range = ParseRange(TakeUntil(text, ','));
    if (!range || (!numbers.empty() && range->first <= numbers.back())) return std::nullopt;
    for (uint32_t number = range->first; number <= range->last; ++number) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace memagent::os
