#include "inject/module_file.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "agent/base/placement_rule.h"

namespace memagent::inject {
namespace {

// Other symbols are kept as they are: a name of a profile is untrusted, the demangler recurses, and
// each reference back ("S_", "T0_") may repeat all that stands before it.
constexpr size_t kLongestSymbol = 4096;
constexpr size_t kMostReferences = 12;

size_t CountReferences(std::string_view symbol) {
  size_t count = 0;
  for (size_t at = symbol.find_first_of("ST"); at != std::string_view::npos;
       at = symbol.find_first_of("ST", at + 1)) {
    const size_t end = symbol.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", at + 1);
    if (end != std::string_view::npos && symbol[end] == '_') ++count;
  }
  return count;
}

std::string Demangle(const std::string& symbol) {
  if (!symbol.starts_with("_Z") || symbol.size() > kLongestSymbol) return symbol;
  if (CountReferences(symbol) > kMostReferences) return symbol;
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : symbol;
  free(text);
  return result;
}

// Where the bracket that `close`, at `end`, closes was opened; npos: nowhere.
size_t OpenedAt(std::string_view text, size_t end, char open, char close) {
  size_t depth = 0;
  for (size_t at = end + 1; at-- > 0;) {
    if (text[at] == close) ++depth;
    if (text[at] == open && --depth == 0) return at;
  }
  return std::string_view::npos;
}

std::string_view WithoutParameters(std::string_view text) {
  const size_t end = text.rfind(')');
  if (end == std::string_view::npos) return text;
  const size_t start = OpenedAt(text, end, '(', ')');
  return start == std::string_view::npos || start == 0 ? text : text.substr(0, start);
}

std::string_view WithoutTemplate(std::string_view text) {
  if (!text.ends_with('>')) return text;
  const size_t start = OpenedAt(text, text.size() - 1, '<', '>');
  return start == std::string_view::npos || start == 0 ? text : text.substr(0, start);
}

// "name" itself, or behind a scope or the return type of a template.
bool EndsWithName(std::string_view text, std::string_view name) {
  if (!text.ends_with(name)) return false;
  text.remove_suffix(name.size());
  return text.empty() || text.ends_with("::") || text.ends_with(' ');
}

// The symbol without ".constprop.0" and the like.
std::string WithoutClone(const std::string& symbol) {
  const size_t dot = symbol.find('.', 1);
  return dot == std::string::npos ? symbol : symbol.substr(0, dot);
}

// Part of `name` that stands in a mangled symbol as it is: most symbols need no demangling.
std::string_view LastWord(std::string_view name) {
  name = WithoutTemplate(WithoutParameters(name));
  const size_t scope = name.rfind("::");
  return scope == std::string_view::npos ? name : name.substr(scope + 2);
}

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

}  // namespace

std::string PlainName(const std::string& symbol) {
  const std::string demangled = Demangle(WithoutClone(symbol));
  return std::string(WithoutParameters(demangled));
}

bool IsFunctionNamed(const std::string& symbol, std::string_view name) {
  if (name.empty()) return false;
  const std::string whole = WithoutClone(symbol);
  if (symbol == name || whole == WithoutClone(std::string(name))) return true;
  if (name.starts_with("_Z") || !whole.starts_with("_Z")) return false;
  const bool is_operator = name.find("operator") != std::string_view::npos;
  if (!is_operator && whole.find(LastWord(name)) == std::string::npos) return false;
  const std::string demangled = Demangle(whole);
  const std::string_view plain = WithoutParameters(demangled);
  return demangled == name || EndsWithName(plain, name) ||
         EndsWithName(WithoutTemplate(plain), name);
}

std::unique_ptr<ModuleFile> ModuleFile::Open(const std::string& path) {
  std::unique_ptr<ModuleFile> module(new ModuleFile(path));
  module->file_ = os::ElfFile::Parse(module->source_);
  if (!module->file_) return nullptr;
  module->key_ = module->MakeKey();
  return module->key_.empty() ? nullptr : std::move(module);
}

std::string ModuleFile::MakeKey() {
  if (!file_->build_id().empty()) return Hex(file_->build_id());
  const base::String table = file_->ProgramHeaders();
  if (table.empty()) return "";
  const uint64_t key =
      base::ProgramHeadersKey({reinterpret_cast<const uint8_t*>(table.data()), table.size()});
  char text[32];
  snprintf(text, sizeof(text), "headers=%016llx", static_cast<unsigned long long>(key));
  return text;
}

std::vector<os::ElfRange> ModuleFile::FunctionsNamed(std::string_view name) const {
  std::vector<os::ElfRange> ranges;
  for (const os::ElfObject& function : file_->Functions()) {
    const base::String symbol = file_->NameOf(function);
    if (!IsFunctionNamed(std::string(symbol), name)) continue;
    const os::ElfRange range = {function.address, function.address + function.size_bytes};
    if (range.end <= range.start) continue;
    if (std::find(ranges.begin(), ranges.end(), range) == ranges.end()) ranges.push_back(range);
  }
  return ranges;
}

}  // namespace memagent::inject
