#include "viewer/module_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "viewer/concat.h"
#include "viewer/symbol_index.h"
#include "viewer/variable_index.h"

namespace memagent::viewer {
namespace {

char* g_debug_path = nullptr;  // libdw's default search path: .debug folders and /usr/lib/debug

const Dwfl_Callbacks kCallbacks = {nullptr, dwfl_standard_find_debuginfo,
                                   dwfl_offline_section_address, &g_debug_path};

using ScopeList = std::unique_ptr<Dwarf_Die, void (*)(void*)>;

// The declaration that a concrete function or an inlined call goes back to.
Dwarf_Die DeclarationOf(Dwarf_Die* die) {
  constexpr int kMostSteps = 4;  // abstract origin, then specification; more is damage
  Dwarf_Die result = *die;
  for (int step = 0; step < kMostSteps; ++step) {
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if (dwarf_attr(&result, DW_AT_abstract_origin, &attribute) == nullptr &&
        dwarf_attr(&result, DW_AT_specification, &attribute) == nullptr) {
      break;
    }
    if (dwarf_formref_die(&attribute, &next) == nullptr) break;
    result = next;
  }
  return result;
}

bool IsNamedScope(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
}

// The name with its namespaces and classes. Compilers give functions that involve local types (such
// as std::thread's constructor for a lambda) no linkage name.
std::string QualifiedName(Dwarf_Die* die) {
  Dwarf_Die declaration = DeclarationOf(die);
  const char* plain = dwarf_diename(&declaration);
  if (plain == nullptr) return "";
  std::string name = plain;
  Dwarf_Die* raw = nullptr;
  const int count = dwarf_getscopes_die(&declaration, &raw);
  if (count <= 0) return name;
  const ScopeList scopes(raw, std::free);
  for (int i = 1; i < count; ++i) {
    if (!IsNamedScope(dwarf_tag(&scopes.get()[i]))) continue;
    const char* scope = dwarf_diename(&scopes.get()[i]);
    name = Concat(scope == nullptr ? "(anonymous namespace)" : scope, "::", name);
  }
  return name;
}

std::string FunctionOf(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {unsigned{DW_AT_linkage_name}, unsigned{DW_AT_MIPS_linkage_name}}) {
    if (dwarf_attr_integrate(die, name, &attribute) == nullptr) continue;
    if (const char* text = dwarf_formstring(&attribute); text != nullptr) return text;
  }
  return QualifiedName(die);
}

// Where an inlined call stands in its caller.
InlineLevel CallSite(Dwarf_Die* cu, Dwarf_Die* inlined) {
  InlineLevel caller;
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(inlined, DW_AT_call_line, &attribute) != nullptr &&
      dwarf_formudata(&attribute, &value) == 0) {
    caller.line = static_cast<uint32_t>(value);
  }
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (dwarf_attr(inlined, DW_AT_call_file, &attribute) != nullptr &&
      dwarf_formudata(&attribute, &value) == 0 && dwarf_getsrcfiles(cu, &files, &count) == 0 &&
      value < count) {
    const char* file = dwarf_filesrc(files, value, nullptr, nullptr);
    if (file != nullptr) caller.file = file;
  }
  return caller;
}

// `levels` holds the innermost line; names it and adds a level for every inlined call around it.
void AddScopes(Dwarf_Die* cu, Dwarf_Addr address, std::vector<InlineLevel>& levels) {
  Dwarf_Die* raw = nullptr;
  // Behind an inlined call dwarf_getscopes goes on with the scopes of its definition, not of its
  // caller; only the scopes of the innermost DIE itself are those of the code (elfutils' addr2line
  // does the same).
  if (dwarf_getscopes(cu, address, &raw) <= 0) return;
  const ScopeList innermost(raw, std::free);
  const int count = dwarf_getscopes_die(&innermost.get()[0], &raw);
  if (count <= 0) return;
  const ScopeList scopes(raw, std::free);
  for (int i = 0; i < count; ++i) {
    Dwarf_Die* scope = &scopes.get()[i];
    const int tag = dwarf_tag(scope);
    if (tag == DW_TAG_inlined_subroutine) {
      levels.back().function = FunctionOf(scope);
      levels.push_back(CallSite(cu, scope));
    } else if (tag == DW_TAG_subprogram) {
      levels.back().function = FunctionOf(scope);
      return;
    }
  }
}

// Every defined symbol that can name code; the names live as long as the module.
std::vector<IndexedSymbol> SymbolsOf(Dwfl_Module* module) {
  std::vector<IndexedSymbol> symbols;
  const int count = dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {  // 0 is the undefined symbol of every table
    GElf_Sym symbol;
    GElf_Addr start = 0;
    GElf_Word section = SHN_UNDEF;
    const char* name =
        dwfl_module_getsym_info(module, i, &symbol, &start, &section, nullptr, nullptr);
    const int type = GELF_ST_TYPE(symbol.st_info);
    if (name == nullptr || *name == '\0' || section == SHN_UNDEF) continue;
    if (type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC) continue;
    symbols.push_back({start, symbol.st_size, section, GELF_ST_BIND(symbol.st_info), name});
  }
  return symbols;
}

// A profile may name a pipe or a device, or one of the kernel's files, which have no size and may
// wait for ever (/proc/kmsg).
bool IsObjectFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) &&
         std::filesystem::file_size(path, error) > 0 && !error;
}

}  // namespace

ModuleLines::ModuleLines(const std::string& path, const std::string& build_id) {
  Open(path, build_id);
}

ModuleLines::~ModuleLines() {
  if (session_ != nullptr) dwfl_end(session_);
}

void ModuleLines::Open(const std::string& path, const std::string& build_id) {
  if (path.starts_with('[')) {
    problem_ = Concat(path, " is the kernel's: its lines are not read.");
    return;
  }
  if (build_id.empty()) {
    problem_ = Concat(path, " has no build-id to recognise it by: link with -Wl,--build-id.");
    return;
  }
  if (!IsObjectFile(path)) {
    problem_ = Concat(path, " is not on this machine: report where it was recorded.");
    return;
  }
  session_ = dwfl_begin(&kCallbacks);
  if (session_ == nullptr) return;
  module_ = dwfl_report_offline(session_, "module", path.c_str(), -1);
  dwfl_report_end(session_, nullptr, nullptr);
  GElf_Addr bias = 0;
  if (module_ == nullptr || dwfl_module_getelf(module_, &bias) == nullptr ||
      !BuildIdMatches(build_id)) {
    module_ = nullptr;
    problem_ = Concat(path, " has changed since it was recorded: profile the new build.");
    return;
  }
  bias_ = bias;
  Dwarf_Addr dwarf_bias = 0;
  has_lines_ = dwfl_module_getdwarf(module_, &dwarf_bias) != nullptr;
  if (!has_lines_) {
    problem_ = Concat(path, " has no debug information: build with -g to see lines.");
  }
}

bool ModuleLines::BuildIdMatches(const std::string& build_id) const {
  const unsigned char* bits = nullptr;
  GElf_Addr address = 0;
  const int length = dwfl_module_build_id(module_, &bits, &address);
  if (length <= 0) return false;
  return std::string(reinterpret_cast<const char*>(bits), static_cast<size_t>(length)) == build_id;
}

std::vector<InlineLevel> ModuleLines::At(uint64_t address) const {
  std::vector<InlineLevel> levels;
  if (!has_lines_) return levels;
  const Dwarf_Addr shifted = address + bias_;
  // libdw takes the nearest unit and line below an address, even where the code there (assembly,
  // start files) belongs to none.
  Dwarf_Addr cu_bias = 0;
  Dwarf_Die* cu = dwfl_module_addrdie(module_, shifted, &cu_bias);
  if (cu == nullptr || dwarf_haspc(cu, shifted - cu_bias) <= 0) return levels;
  Dwfl_Line* line = dwfl_module_getsrc(module_, shifted);
  if (line == nullptr) return levels;
  InlineLevel innermost;
  int number = 0;
  const char* file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
  if (file != nullptr) innermost.file = file;
  innermost.line = number > 0 ? static_cast<uint32_t>(number) : 0;
  levels.push_back(innermost);
  AddScopes(cu, shifted - cu_bias, levels);
  return levels;
}

InlineLevel ModuleLines::VariableAt(uint64_t address) {
  if (!has_lines_) return {};
  if (variables_ == nullptr) {
    Dwarf_Addr dwarf_bias = 0;
    variables_ = std::make_unique<VariableIndex>(dwfl_module_getdwarf(module_, &dwarf_bias));
  }
  const VariableIndex::Place place = variables_->Find(address);
  return {"", place.file, place.line};
}

std::string ModuleLines::SymbolAt(uint64_t address) {
  if (module_ == nullptr) return "";
  if (symbols_ == nullptr) symbols_ = std::make_unique<SymbolIndex>(SymbolsOf(module_));
  const char* name = symbols_->Find(address + bias_);
  return name == nullptr ? "" : name;
}

}  // namespace memagent::viewer
