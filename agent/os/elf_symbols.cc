// The symbol part of ElfFile: one pass over the tables, block by block.
#include <elf.h>

#include <algorithm>
#include <cstring>

#include "agent/os/elf_file.h"

namespace memagent::os {
namespace {

constexpr uint64_t kSymbolsPerBlock = 1024;  // 24 KiB a read

// A symbol with what decides between several: `rank` is smaller for the better name.
struct Candidate {
  uint64_t start = 0;
  uint64_t end = 0;  // equal to start: size unknown (hand-written assembly)
  uint64_t name_at = 0;
  uint64_t name_limit = 0;
  uint32_t section = 0;
  int rank = 0;
  bool valid = false;

  bool has_size() const { return end != start; }
  bool Covers(uint64_t address) const { return valid && address >= start && address < end; }
};

int RankOf(const Elf64_Sym& symbol) {
  switch (ELF64_ST_BIND(symbol.st_info)) {
    case STB_GLOBAL:
      return 0;
    case STB_WEAK:
      return 1;
    default:
      return 2;
  }
}

bool IsFunction(const Elf64_Sym& symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF;
}

// Whether `a` is the better answer for addresses that both could name.
bool StartsLater(const Candidate& a, const Candidate& b) {
  if (!b.valid) return true;
  if (a.start != b.start) return a.start > b.start;
  // At one start, a symbol with a size says more than one without; then the better name.
  if (a.has_size() != b.has_size()) return a.has_size();
  return a.rank < b.rank;
}

bool ReachesFurther(const Candidate& a, const Candidate& b) {
  return !b.valid || a.end > b.end || (a.end == b.end && StartsLater(a, b));
}

// For each address, the best symbols that start in the gap between the address before and it. A
// single pass from low to high then carries them on to the addresses above.
struct Gap {
  Candidate latest;    // the one that starts last
  Candidate furthest;  // the one that reaches furthest: the outer of two nested symbols
};

}  // namespace

template <typename Visit>
void ElfFile::ForEachSymbol(Visit visit) const {
  base::Vector<Elf64_Sym> block(kSymbolsPerBlock);
  for (const SymbolTable& table : tables_) {
    for (uint64_t first = 0; first < table.count; first += kSymbolsPerBlock) {
      const uint64_t count = std::min(kSymbolsPerBlock, table.count - first);
      const std::span<char> bytes(reinterpret_cast<char*>(block.data()), count * sizeof(Elf64_Sym));
      if (!source_->Read(table.offset + first * sizeof(Elf64_Sym), bytes)) break;
      for (uint64_t i = 0; i < count; ++i) visit(block[i], table);
    }
  }
}

// File offsets in a string table at which one of the names stands, to its index. A name may be the
// end of a longer one, which linkers store once.
base::OrderedMap<uint64_t, size_t> ElfFile::PlacesOf(std::span<const std::string_view> names,
                                                     const SymbolTable& table) const {
  base::OrderedMap<uint64_t, size_t> places;
  const uint64_t size = table.strings_end - table.strings;
  base::String text;
  if (size > kMaxSearchedBytes) return places;
  text.resize(size);
  if (!source_->Read(table.strings, text)) return places;
  for (size_t i = 0; i < names.size(); ++i) {
    for (size_t at = text.find(names[i]); at != base::String::npos;
         at = text.find(names[i], at + 1)) {
      const size_t end = at + names[i].size();
      if (end < text.size() && text[end] == '\0') places[table.strings + at] = i;
    }
  }
  return places;
}

std::string_view ElfFile::FindDefined(std::span<const std::string_view> names) const {
  base::Vector<base::OrderedMap<uint64_t, size_t>> places;
  for (const SymbolTable& table : tables_) places.push_back(PlacesOf(names, table));
  size_t best = names.size();
  ForEachSymbol([&](const Elf64_Sym& symbol, const SymbolTable& table) {
    const auto& known = places[static_cast<size_t>(&table - tables_.data())];
    const auto place = known.find(table.strings + symbol.st_name);
    if (place != known.end() && IsFunction(symbol)) best = std::min(best, place->second);
  });
  return best < names.size() ? names[best] : std::string_view();
}

base::Vector<FunctionName> ElfFile::FindFunctions(std::span<const uint64_t> addresses) const {
  base::Vector<Gap> gaps(addresses.size());
  ForEachSymbol([&](const Elf64_Sym& symbol, const SymbolTable& table) {
    if (!IsFunction(symbol)) return;
    const auto above = std::lower_bound(addresses.begin(), addresses.end(), symbol.st_value);
    if (above == addresses.end()) return;
    const uint64_t end = symbol.st_value + symbol.st_size;
    const Candidate candidate = {symbol.st_value,
                                 end < symbol.st_value ? UINT64_MAX : end,
                                 table.strings + symbol.st_name,
                                 table.strings_end,
                                 symbol.st_shndx,
                                 RankOf(symbol),
                                 true};
    Gap& gap = gaps[static_cast<size_t>(above - addresses.begin())];
    if (StartsLater(candidate, gap.latest)) gap.latest = candidate;
    if (ReachesFurther(candidate, gap.furthest)) gap.furthest = candidate;
  });
  base::Vector<FunctionName> names(addresses.size());
  Gap below;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (gaps[i].latest.valid) below.latest = gaps[i].latest;
    if (gaps[i].furthest.valid && ReachesFurther(gaps[i].furthest, below.furthest)) {
      below.furthest = gaps[i].furthest;
    }
    // A symbol without a size reaches to the next symbol, but not out of its section: the PLT
    // follows _init, which has none.
    const bool open_end = below.latest.valid && !below.latest.has_size() &&
                          SectionCovers(below.latest.section, addresses[i]);
    const bool inner = open_end || below.latest.Covers(addresses[i]);
    if (!inner && !below.furthest.Covers(addresses[i])) continue;
    const Candidate& best = inner ? below.latest : below.furthest;
    names[i] = FunctionName{NameAt(best.name_at, best.name_limit), addresses[i] - best.start};
  }
  return names;
}

base::Vector<ElfObject> ElfFile::Functions() const {
  base::Vector<ElfObject> functions;
  ForEachSymbol([&](const Elf64_Sym& symbol, const SymbolTable& table) {
    if (!IsFunction(symbol) || symbol.st_size == 0) return;
    functions.push_back(ElfObject{symbol.st_value, symbol.st_size, table.strings + symbol.st_name,
                                  table.strings_end});
  });
  return functions;
}

base::Vector<ElfObject> ElfFile::ObjectsOfType(unsigned type) const {
  struct Found {
    ElfObject object;
    int rank;
  };
  base::Vector<Found> found;
  ForEachSymbol([&](const Elf64_Sym& symbol, const SymbolTable& table) {
    if (ELF64_ST_TYPE(symbol.st_info) != type || symbol.st_shndx == SHN_UNDEF) return;
    if (symbol.st_size == 0) return;
    found.push_back(Found{ElfObject{symbol.st_value, symbol.st_size, table.strings + symbol.st_name,
                                    table.strings_end},
                          RankOf(symbol)});
  });
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    if (a.object.address != b.object.address) return a.object.address < b.object.address;
    if (a.object.size_bytes != b.object.size_bytes) {
      return a.object.size_bytes > b.object.size_bytes;
    }
    return a.rank < b.rank;
  });
  base::Vector<ElfObject> objects;
  for (const Found& one : found) {
    if (!objects.empty() && objects.back().address == one.object.address) continue;
    objects.push_back(one.object);
  }
  return objects;
}

base::Vector<ElfObject> ElfFile::Objects() const { return ObjectsOfType(STT_OBJECT); }

base::Vector<ElfObject> ElfFile::ThreadLocals() const { return ObjectsOfType(STT_TLS); }

}  // namespace memagent::os
