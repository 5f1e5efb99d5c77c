#include "agent/base/options.h"

#include <cstring>

namespace memagent::base {
namespace {

#define MEMAGENT_STRINGIFY(value) #value
#define MEMAGENT_DEFAULT_string(value) value
#define MEMAGENT_DEFAULT_choice(value) value
#define MEMAGENT_DEFAULT_number(value) MEMAGENT_STRINGIFY(value)
#define MEMAGENT_DEFAULT_flag(value) MEMAGENT_STRINGIFY(value)
constexpr OptionInfo kTable[] = {
#define MEMAGENT_OPTION(type, name, value, placeholder, help) \
  {#name, #type, MEMAGENT_DEFAULT_##type(value), placeholder, help},
#include "agent/base/options.inc"  // NOLINT: the table
#undef MEMAGENT_OPTION
};

std::string_view Assign(OptionString& field, std::string_view value) {
  if (value.size() >= sizeof(field.text)) return "the value is longer than 1023 bytes";
  memcpy(field.text, value.data(), value.size());
  field.text[value.size()] = '\0';
  return {};
}

std::string_view Assign(uint64_t& field, std::string_view value) {
  if (value.empty() || value.size() > 18) return "the value must be a decimal number";
  uint64_t number = 0;
  for (char c : value) {
    if (c < '0' || c > '9') return "the value must be a decimal number";
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  field = number;
  return {};
}

std::string_view Assign(bool& field, std::string_view value) {
  if (value != "0" && value != "1") return "the value must be 0 or 1";
  field = value == "1";
  return {};
}

bool IsOneOf(std::string_view word, std::string_view words) {
  while (true) {
    const size_t bar = words.find('|');
    if (words.substr(0, bar) == word) return true;
    if (bar == std::string_view::npos) return false;
    words.remove_prefix(bar + 1);
  }
}

// Length of the pair that starts `text`: up to the first comma that no backslash escapes.
size_t PairLength(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',' && (i == 0 || text[i - 1] != '\\')) return i;
  }
  return text.size();
}

// Copies `value` with "\," turned into ","; what does not fit is kept too long so that Assign says so.
std::string_view Unescape(std::string_view value, char (&buffer)[1100]) {
  size_t n = 0;
  for (size_t i = 0; i < value.size() && n < sizeof(buffer); ++i) {
    if (value[i] == '\\' && i + 1 < value.size() && value[i + 1] == ',') continue;
    buffer[n++] = value[i];
  }
  return {buffer, n};
}

}  // namespace

std::span<const OptionInfo> OptionTable() { return kTable; }

std::string_view SetOption(Options& options, std::string_view name, std::string_view value) {
#define MEMAGENT_OPTION(type, field, default_value, words, help)                \
  if (name == #field) {                                                         \
    if (std::string_view(#type) == "choice" && !IsOneOf(value, words))          \
      return "the value must be one of " words;                                 \
    return Assign(options.field, value);                                        \
  }
#include "agent/base/options.inc"  // NOLINT: the table
#undef MEMAGENT_OPTION
  return "there is no such option";
}

void ParseOptions(std::string_view text, Options& options, OptionWarning warn, void* context) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, PairLength(text));
    text.remove_prefix(pair.size() < text.size() ? pair.size() + 1 : pair.size());
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    std::string_view problem = "expected key=value";
    if (equals != std::string_view::npos) {
      char buffer[1100];
      problem = SetOption(options, pair.substr(0, equals), Unescape(pair.substr(equals + 1), buffer));
    }
    if (!problem.empty() && warn != nullptr) warn(context, pair, problem);
  }
}

}  // namespace memagent::base
