#include "viewer/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <optional>

namespace memagent::viewer {
namespace {

// The demangler recurses; a hostile profile must not overflow our stack with one name.
constexpr size_t kLongestSymbol = 4096;
// Each reference may at most multiply what stands before it: 3^(24/3) times in the worst case,
// 6,561.
constexpr size_t kMostReferences = 24;
constexpr size_t kMostReferencesWithPack = 12;
// Stands for a reference: a type and a scope alike in the grammar, and hardly anybody's own.
constexpr std::string_view kPlaceholder = "Sd";
constexpr std::string_view kPlaceholderName = "std::iostream";

// Bytes of the reference ("S_", "S1a_", "T_", "T0_") that `text` starts with; 0: none.
size_t ReferenceBytes(std::string_view text) {
  if (text.empty() || (text[0] != 'S' && text[0] != 'T')) return 0;
  size_t i = 1;
  while (i < text.size() && (std::isdigit(static_cast<unsigned char>(text[i])) ||
                             std::isupper(static_cast<unsigned char>(text[i])))) {
    ++i;
  }
  return i < text.size() && text[i] == '_' ? i + 1 : 0;
}

size_t CountReferences(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) count += ReferenceBytes(text.substr(i)) != 0;
  return count;
}

// Expansions of parameter packs, which repeat a pattern for each of their elements.
size_t CountPacks(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    count += text.substr(i, 2) == "Dp" || text.substr(i, 2) == "sp";
  }
  return count;
}

bool MayExplode(std::string_view symbol) {
  const size_t references = CountReferences(symbol), packs = CountPacks(symbol);
  return packs > 1 || references > (packs == 0 ? kMostReferences : kMostReferencesWithPack);
}

// The symbol with the placeholder for every reference outside of its identifiers.
std::string WithoutReferences(std::string_view symbol) {
  std::string result;
  while (!symbol.empty()) {
    size_t identifier = 0, bytes = 0;
    while (bytes < symbol.size() && std::isdigit(static_cast<unsigned char>(symbol[bytes]))) {
      identifier =
          std::min(identifier * 10 + static_cast<size_t>(symbol[bytes] - '0'), kLongestSymbol);
      ++bytes;
    }
    const size_t reference = ReferenceBytes(symbol);
    if (reference != 0) {
      result += kPlaceholder;
      symbol.remove_prefix(reference);
      continue;
    }
    bytes = std::min(std::max<size_t>(bytes + identifier, 1), symbol.size());
    result += symbol.substr(0, bytes);
    symbol.remove_prefix(bytes);
  }
  return result;
}

std::optional<std::string> RealName(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || name == nullptr) return std::nullopt;
  return std::string(name.get());
}

std::optional<std::string> AbbreviatedName(std::string_view symbol) {
  if (symbol.find(kPlaceholder) != std::string_view::npos) return std::nullopt;
  const std::string plain = WithoutReferences(symbol);
  if (MayExplode(plain)) return std::nullopt;  // its identifiers were not what they seemed
  std::optional<std::string> name = RealName(plain);
  if (!name) return std::nullopt;
  for (size_t at = 0; (at = name->find(kPlaceholderName, at)) != std::string::npos;) {
    name->replace(at, kPlaceholderName.size(), "...");
  }
  return name;
}

}  // namespace

std::string Demangle(std::string_view symbol) {
  std::string text(symbol);
  if (!text.starts_with("_Z") || text.size() > kLongestSymbol) return text;
  return (MayExplode(text) ? AbbreviatedName(text) : RealName(text)).value_or(text);
}

}  // namespace memagent::viewer
