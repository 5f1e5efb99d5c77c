#include "agent/os/loaded_symbols.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace memagent::os {
namespace {

// Bit of a version index: not the default version of the symbol (Linux Standard Base,
// .gnu.version).
constexpr ElfW(Half) kHiddenVersion = 0x8000;
constexpr uint32_t kWordBits = 8 * sizeof(ElfW(Addr));

// The parts of an object's dynamic section that a look-up needs. The loader has checked and used
// them; their lengths are recorded nowhere.
struct SymbolTable {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Half) * versions = nullptr;
  const uint32_t* gnu_hash = nullptr;
  const uint32_t* hash = nullptr;
};

// glibc has made the addresses in the dynamic section absolute, except the vDSO's; musl does not.
template <typename T>
void Take(const T*& field, const dl_phdr_info& info, const ElfW(Dyn) & entry) {
  const ElfW(Addr) address = entry.d_un.d_ptr;
  field = reinterpret_cast<const T*>(address < info.dlpi_addr ? info.dlpi_addr + address : address);
}

SymbolTable TableOf(const dl_phdr_info& info) {
  SymbolTable table;
  for (const ElfW(Phdr) & header : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    if (header.p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + header.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) Take(table.symbols, info, *entry);
      if (entry->d_tag == DT_STRTAB) Take(table.strings, info, *entry);
      if (entry->d_tag == DT_VERSYM) Take(table.versions, info, *entry);
      if (entry->d_tag == DT_GNU_HASH) Take(table.gnu_hash, info, *entry);
      if (entry->d_tag == DT_HASH) Take(table.hash, info, *entry);
    }
  }
  return table;
}

// An undefined symbol may have a value too: a jump in a program at a fixed address.
bool Defines(const SymbolTable& table, uint32_t index, std::string_view name) {
  const ElfW(Sym)& symbol = table.symbols[index];
  const int type = symbol.st_info & 0xf;  // ELF64_ST_TYPE, the same in ELF32
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) return false;
  if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) return false;
  if (table.versions != nullptr && (table.versions[index] & kHiddenVersion) != 0) return false;
  return name == table.strings + symbol.st_name;
}

// The hash of DT_GNU_HASH: Bernstein's, times 33.
const ElfW(Sym) * FindByGnuHash(const SymbolTable& table, std::string_view name) {
  uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  const uint32_t buckets = table.gnu_hash[0];
  const uint32_t first = table.gnu_hash[1];
  const uint32_t filter_words = table.gnu_hash[2];
  const uint32_t shift = table.gnu_hash[3];
  if (buckets == 0 || filter_words == 0) return nullptr;
  const auto* filter = reinterpret_cast<const ElfW(Addr)*>(table.gnu_hash + 4);
  const ElfW(Addr) word = filter[hash / kWordBits % filter_words];
  if ((word >> (hash % kWordBits) & word >> ((hash >> shift) % kWordBits) & 1) == 0) return nullptr;
  const auto* bucket = reinterpret_cast<const uint32_t*>(filter + filter_words);
  const uint32_t* chain = bucket + buckets;
  uint32_t index = bucket[hash % buckets];
  if (index < first) return nullptr;
  for (;; ++index) {
    const uint32_t link = chain[index - first];  // bit 0: the last of the chain
    if ((link | 1) == (hash | 1) && Defines(table, index, name)) return table.symbols + index;
    if ((link & 1) != 0) return nullptr;
  }
}

// The hash of DT_HASH (System V ABI, "Hash Table").
const ElfW(Sym) * FindBySystemVHash(const SymbolTable& table, std::string_view name) {
  uint32_t hash = 0;
  for (const char c : name) {
    hash = (hash << 4) + static_cast<unsigned char>(c);
    hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
  }
  const uint32_t buckets = table.hash[0];
  if (buckets == 0) return nullptr;
  const uint32_t* chain = table.hash + 2 + buckets;
  for (uint32_t index = table.hash[2 + hash % buckets]; index != 0; index = chain[index]) {
    if (Defines(table, index, name)) return table.symbols + index;
  }
  return nullptr;
}

const ElfW(Sym) * Find(const SymbolTable& table, std::string_view name) {
  if (table.symbols == nullptr || table.strings == nullptr) return nullptr;
  if (table.gnu_hash != nullptr) return FindByGnuHash(table, name);
  return table.hash != nullptr ? FindBySystemVHash(table, name) : nullptr;
}

// An indirect function's symbol is a function that chooses: x86-64 passes it nothing, AArch64 the
// processor's abilities.
void* AddressOf(const dl_phdr_info& info, const ElfW(Sym) & symbol) {
  void* address = reinterpret_cast<void*>(info.dlpi_addr + symbol.st_value);
  if ((symbol.st_info & 0xf) != STT_GNU_IFUNC) return address;
  return reinterpret_cast<void* (*)(unsigned long)>(address)(getauxval(AT_HWCAP));
}

bool Holds(const dl_phdr_info& info, const void* address) {
  const auto offset = reinterpret_cast<uintptr_t>(address) - info.dlpi_addr;
  for (const ElfW(Phdr) & header : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    if (header.p_type == PT_LOAD && offset - header.p_vaddr < header.p_memsz) return true;
  }
  return false;
}

struct Search {
  std::span<LoadedSymbol> symbols;
  bool begun;
};

constinit const char own_address = 0;

int VisitObject(dl_phdr_info* info, size_t, void* context) {
  auto& search = *static_cast<Search*>(context);
  const bool in_agent = Holds(*info, &own_address);
  const SymbolTable table = search.begun ? TableOf(*info) : SymbolTable{};
  for (LoadedSymbol& wanted : search.symbols) {
    if (wanted.address != nullptr) continue;
    const ElfW(Sym)* symbol = Find(table, wanted.name);
    if (symbol == nullptr) continue;
    wanted.address = AddressOf(*info, *symbol);
    wanted.object = info->dlpi_phdr;
    wanted.object_path = info->dlpi_name != nullptr ? info->dlpi_name : "";
    wanted.in_agent = in_agent;
  }
  if (in_agent) search.begun = true;
  return 0;
}

}  // namespace

void FindLoadedSymbols(std::span<LoadedSymbol> symbols, SearchFrom from) {
  Search search = {symbols, from == SearchFrom::kProgram};
  dl_iterate_phdr(VisitObject, &search);
}

LoadedSymbol FindLoadedSymbol(const char* name, SearchFrom from) {
  LoadedSymbol symbol = {name};
  FindLoadedSymbols({&symbol, 1}, from);
  return symbol;
}

}  // namespace memagent::os
