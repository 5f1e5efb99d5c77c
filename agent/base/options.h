// Options of a session, parsed from one string of comma-separated key=value pairs.
//
// Parsing allocates nothing and never fails: a bad pair keeps the default and is reported to the
// caller as a warning, because a wrong option must never stop the host program.
#ifndef MEMAGENT_AGENT_BASE_OPTIONS_H_
#define MEMAGENT_AGENT_BASE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace memagent::base {

// A string option: fixed storage so that Options is trivially copyable and lives in .bss.
struct OptionString {
  char text[1024] = {};
  std::string_view view() const { return std::string_view(text); }
};

struct Options {
#define MEMAGENT_OPTION_FIELD_string(name, value) OptionString name{value};
#define MEMAGENT_OPTION_FIELD_choice(name, value) OptionString name{value};
#define MEMAGENT_OPTION_FIELD_number(name, value) uint64_t name = value;
#define MEMAGENT_OPTION_FIELD_flag(name, value) bool name = value;
#define MEMAGENT_OPTION(type, name, value, placeholder, help) MEMAGENT_OPTION_FIELD_##type(name, value)
#include "agent/base/options.inc"  // NOLINT: the table
#undef MEMAGENT_OPTION
};

// One row of the table, for --help, the man page and the parser itself.
struct OptionInfo {
  std::string_view name;
  std::string_view type;  // "string", "choice", "number", "flag"
  std::string_view default_value;
  std::string_view placeholder;
  std::string_view help;
};
std::span<const OptionInfo> OptionTable();

// Sets one option. Returns an empty view, or why not, as one sentence without the name.
std::string_view SetOption(Options& options, std::string_view name, std::string_view value);

// Applies "a=b,c=d" to `options`. For each pair that could not be applied calls
// warn(context, pair, reason). A comma inside a value is written "\,".
using OptionWarning = void (*)(void* context, std::string_view pair, std::string_view reason);
void ParseOptions(std::string_view text, Options& options, OptionWarning warn, void* context);

}  // namespace memagent::base

#endif  // MEMAGENT_AGENT_BASE_OPTIONS_H_
