// Source lines and inlined calls of one ELF file, by libdw.
#ifndef MEMAGENT_VIEWER_MODULE_LINES_H_
#define MEMAGENT_VIEWER_MODULE_LINES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct Dwfl;
struct Dwfl_Module;

namespace memagent::viewer {

// One level of inlining at an address.
struct InlineLevel {
  std::string function;  // linkage name when the compiler gave one, else the plain name; "" unknown
  std::string file;
  uint32_t line = 0;
};

class SymbolIndex;    // symbol_index.h
class VariableIndex;  // variable_index.h

// Opens the file at construction. Not copyable; single-threaded.
class ModuleLines {
 public:
  // `build_id`: raw bytes; empty means that the file can't be proven to be the same.
  ModuleLines(const std::string& path, const std::string& build_id);
  ~ModuleLines();
  ModuleLines(const ModuleLines&) = delete;
  ModuleLines& operator=(const ModuleLines&) = delete;

  // Innermost first; empty when nothing is known about the address (an ELF address).
  std::vector<InlineLevel> At(uint64_t address) const;
  // Where the variable at an ELF address is declared; an empty file when that is unknown. The first
  // call reads all variables of the module.
  InlineLevel VariableAt(uint64_t address);
  // The symbol that covers the address, "" if none. The first call reads the symbol table.
  std::string SymbolAt(uint64_t address);
  // Why At() knows nothing, as "path: reason and remedy"; "" when it can answer.
  const std::string& problem() const { return problem_; }

 private:
  void Open(const std::string& path, const std::string& build_id);
  bool BuildIdMatches(const std::string& build_id) const;

  Dwfl* session_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  std::unique_ptr<SymbolIndex> symbols_;      // made when first asked for
  std::unique_ptr<VariableIndex> variables_;  // made when first asked for
  uint64_t bias_ = 0;                         // libdw's address minus ELF address
  bool has_lines_ = false;
  std::string problem_;
};

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_MODULE_LINES_H_
