// Which symbol covers an address of one ELF file. libdw's own look-up walks the whole symbol table
// each time: 10 s for the frames of one profile of clang, whose libraries export 200,000 symbols.
#ifndef MEMAGENT_VIEWER_SYMBOL_INDEX_H_
#define MEMAGENT_VIEWER_SYMBOL_INDEX_H_

#include <cstdint>
#include <vector>

namespace memagent::viewer {

// One symbol as libdw gives it.
struct IndexedSymbol {
  uint64_t start = 0;
  uint64_t size_bytes = 0;  // 0: a label of assembly, which reaches to the next symbol
  uint32_t section = 0;
  int binding = 0;             // STB_* of elf.h
  const char* name = nullptr;  // not owned
};

class SymbolIndex {
 public:
  explicit SymbolIndex(std::vector<IndexedSymbol> symbols);

  // Name of the innermost symbol that covers the address, of several that start there the global
  // one; nullptr if none does.
  const char* Find(uint64_t address) const;

 private:
  struct Range {
    uint64_t start;
    uint64_t end;
    uint64_t reach;  // highest end of this and all earlier ranges
    const char* name;
  };
  std::vector<Range> ranges_;  // by start; the preferred of several that start together is last
};

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_SYMBOL_INDEX_H_
