#include "viewer/symbol_index.h"

#include <elf.h>

#include <algorithm>
#include <limits>
#include <tuple>

namespace memagent::viewer {
namespace {

int Preference(int binding) {
  if (binding == STB_LOCAL) return 0;
  return binding == STB_WEAK ? 1 : 2;
}

bool IsBefore(const IndexedSymbol& a, const IndexedSymbol& b) {
  return std::tuple(a.start, a.size_bytes != 0, Preference(a.binding)) <
         std::tuple(b.start, b.size_bytes != 0, Preference(b.binding));
}

// Where the symbol `at` of the sorted list ends.
uint64_t EndOf(const std::vector<IndexedSymbol>& symbols, size_t at) {
  const IndexedSymbol& symbol = symbols[at];
  if (symbol.size_bytes != 0) {
    const uint64_t room = std::numeric_limits<uint64_t>::max() - symbol.start;
    return symbol.start + std::min(symbol.size_bytes, room);
  }
  size_t next = at + 1;
  while (next < symbols.size() && symbols[next].start == symbol.start) ++next;
  const bool bounded = next < symbols.size() && symbols[next].section == symbol.section;
  return bounded ? symbols[next].start : symbol.start;
}

}  // namespace

SymbolIndex::SymbolIndex(std::vector<IndexedSymbol> symbols) {
  std::stable_sort(symbols.begin(), symbols.end(), IsBefore);
  ranges_.reserve(symbols.size());
  uint64_t reach = 0;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const uint64_t end = EndOf(symbols, i);
    reach = std::max(reach, end);
    ranges_.push_back({symbols[i].start, end, reach, symbols[i].name});
  }
}

const char* SymbolIndex::Find(uint64_t address) const {
  auto it =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](uint64_t value, const Range& range) { return value < range.start; });
  while (it != ranges_.begin() && (it - 1)->reach > address) {
    --it;
    if (it->end > address) return it->name;
  }
  return nullptr;
}

}  // namespace memagent::viewer
