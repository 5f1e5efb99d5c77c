// Where the variables of a module are declared, by address.
#ifndef MEMAGENT_VIEWER_VARIABLE_INDEX_H_
#define MEMAGENT_VIEWER_VARIABLE_INDEX_H_

#include <cstdint>
#include <string>
#include <unordered_map>

struct Dwarf;

namespace memagent::viewer {

class VariableIndex {
 public:
  struct Place {
    std::string file;  // "" unknown
    uint32_t line = 0;
  };

  // Reads all compilation units of `dwarf`; not kept.
  explicit VariableIndex(Dwarf* dwarf);

  // The variable that starts at an ELF address.
  Place Find(uint64_t address) const;

 private:
  std::unordered_map<uint64_t, Place> places_;
};

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_VARIABLE_INDEX_H_
