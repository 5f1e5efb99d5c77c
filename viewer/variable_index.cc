#include "viewer/variable_index.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <optional>
#include <vector>

namespace memagent::viewer {
namespace {

// Deeper scopes than this only occur in damaged files.
constexpr size_t kDeepestScope = 64;

// The address of a variable with static storage: its location is one DW_OP_addr.
std::optional<uint64_t> AddressOf(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (dwarf_attr(die, DW_AT_location, &attribute) == nullptr) return std::nullopt;
  if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1) return std::nullopt;
  if (operations[0].atom != DW_OP_addr) return std::nullopt;
  return operations[0].number;
}

bool HoldsVariables(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block;
}

// Calls `visit` for every variable below `parent`.
template <typename Visit>
void VisitVariables(Dwarf_Die* parent, size_t depth, const Visit& visit) {
  Dwarf_Die child;
  if (depth > kDeepestScope || dwarf_child(parent, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_variable) visit(&child);
    if (HoldsVariables(tag)) VisitVariables(&child, depth + 1, visit);
  } while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace

VariableIndex::VariableIndex(Dwarf* dwarf) {
  Dwarf_CU* cu = nullptr;
  Dwarf_Die unit;
  uint8_t type = 0;
  while (dwarf != nullptr && dwarf_get_units(dwarf, cu, &cu, nullptr, &type, &unit, nullptr) == 0) {
    if (type != DW_UT_compile) continue;
    VisitVariables(&unit, 0, [this](Dwarf_Die* die) {
      const std::optional<uint64_t> address = AddressOf(die);
      const char* file = dwarf_decl_file(die);
      int line = 0;
      if (!address || file == nullptr || dwarf_decl_line(die, &line) != 0) return;
      places_[*address] = {file, line > 0 ? static_cast<uint32_t>(line) : 0};
    });
  }
}

VariableIndex::Place VariableIndex::Find(uint64_t address) const {
  const auto found = places_.find(address);
  return found == places_.end() ? Place{} : found->second;
}

}  // namespace memagent::viewer
