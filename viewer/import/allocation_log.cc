#include "viewer/import/allocation_log.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <unordered_map>

#include "viewer/import/plain_text.h"

namespace memagent::importer {
namespace {

constexpr std::string_view kUnnamed = "[allocations without a site]";
constexpr std::string_view kBlanks = " \t\r";
constexpr uint64_t kNanosInSecond = 1'000'000'000;

// The next word of `line`, which is shortened by it; "" at the end.
std::string_view TakeWord(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view word) {
  const bool hex = word.starts_with("0x");
  if (hex) word.remove_prefix(2);
  Number value = 0;
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// "12.5" is 12,500,000,000; digits beyond nanoseconds are left out.
std::optional<uint64_t> ParseSeconds(std::string_view word) {
  const size_t point = word.find('.');
  const auto seconds = ParseNumber<uint64_t>(word.substr(0, point));
  if (!seconds || *seconds > std::numeric_limits<uint64_t>::max() / kNanosInSecond - 1) {
    return std::nullopt;
  }
  uint64_t fraction = 0;
  uint64_t unit = kNanosInSecond;
  for (const char digit : point == std::string_view::npos ? "" : word.substr(point + 1)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    unit /= 10;
    fraction += static_cast<uint64_t>(digit - '0') * unit;
  }
  return *seconds * kNanosInSecond + fraction;
}

class Parser {
 public:
  AllocationLog Run(std::string_view text) {
    for (uint64_t number = 1; !text.empty(); ++number) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      if (TakeLine(line) || log_.bad_lines++ > 0) continue;
      log_.first_bad_line = number;
    }
    std::stable_sort(
        log_.events.begin(), log_.events.end(),
        [](const LoggedEvent& a, const LoggedEvent& b) { return a.time_nanos < b.time_nanos; });
    return std::move(log_);
  }

 private:
  bool TakeLine(std::string_view line) {
    const std::string_view first = TakeWord(line);
    if (first.empty() || first.front() == '#') return true;
    const std::optional<uint64_t> time = ParseSeconds(first);
    const auto pid = ParseNumber<int32_t>(TakeWord(line));
    const std::string_view what = TakeWord(line);
    const auto address = ParseNumber<uint64_t>(TakeWord(line));
    if (!time || !pid || !address || (what != "alloc" && what != "free")) return false;
    LoggedEvent event = {*time, *pid, what == "free", *address, 0, 0};
    if (event.is_free) {
      if (!TakeWord(line).empty()) return false;
    } else {
      const auto size = ParseNumber<uint64_t>(TakeWord(line));
      if (!size || *size > std::numeric_limits<uint64_t>::max() - *address) return false;
      event.size_bytes = *size;
      event.name = NameOf(line);
    }
    log_.events.push_back(event);
    return true;
  }

  uint32_t NameOf(std::string_view rest) {
    const size_t begin = rest.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) {
      rest = kUnnamed;
    } else {
      rest = rest.substr(begin, rest.find_last_not_of(kBlanks) + 1 - begin);
    }
    const auto next = static_cast<uint32_t>(log_.names.size());
    const auto [known, fresh] = ids_.try_emplace(PlainText(rest), next);
    if (fresh) log_.names.push_back(known->first);
    return known->second;
  }

  AllocationLog log_;
  std::unordered_map<std::string, uint32_t> ids_;
};

}  // namespace

AllocationLog ParseAllocationLog(std::string_view text) { return Parser().Run(text); }

}  // namespace memagent::importer
