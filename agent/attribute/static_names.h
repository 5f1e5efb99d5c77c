// The variable of a loaded library or program at an address.
#ifndef MEMAGENT_AGENT_ATTRIBUTE_STATIC_NAMES_H_
#define MEMAGENT_AGENT_ATTRIBUTE_STATIC_NAMES_H_

#include <cstdint>
#include <string_view>

namespace memagent::attribute {

struct StaticObject {
  uint32_t module = 0;        // module id; 0: the address is in no module
  uint64_t address = 0;       // ELF address of the variable; of the section's start without a symbol
  uint64_t size_bytes = 0;    // 0 when no symbol covers the address
  std::string_view name;      // mangled symbol; "" without a symbol
  std::string_view module_path;
  uint64_t start = 0;  // run-time address of the variable; 0 without a symbol
};

class StaticNames {
 public:
  virtual StaticObject Find(uint64_t address) = 0;
  // The mappings changed.
  virtual void Refresh(std::string_view maps_text) = 0;

 protected:
  ~StaticNames() = default;
};

}  // namespace memagent::attribute

#endif  // MEMAGENT_AGENT_ATTRIBUTE_STATIC_NAMES_H_
