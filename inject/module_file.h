// An executable or library as it is on disk now: which build, and where its functions are. For
// placement rules, which name code that way (agent/base/placement_rule.h).
#ifndef MEMAGENT_INJECT_MODULE_FILE_H_
#define MEMAGENT_INJECT_MODULE_FILE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/os/elf_file.h"

namespace memagent::inject {

class ModuleFile {
 public:
  // nullptr: it can't be read, or is no ELF file of ours.
  static std::unique_ptr<ModuleFile> Open(const std::string& path);

  // MODULE of a rule.
  const std::string& key() const { return key_; }
  std::string_view build_id() const { return file_->build_id(); }  // raw bytes; "": none

  // Addresses of the functions of that name; empty: there is none, or the file is stripped.
  std::vector<os::ElfRange> FunctionsNamed(std::string_view name) const;

 private:
  explicit ModuleFile(const std::string& path) : source_(path.c_str()) {}
  std::string MakeKey();

  os::FileSource source_;
  std::optional<os::ElfFile> file_;
  std::string key_;
};

// Whether a symbol is the function that a person or a profile calls `name`: the symbol itself,
// without what the compiler appends to copies of a function (".part.0"), or in C++ its plain name,
// with or without template arguments and the scopes around it. Pure.
bool IsFunctionNamed(const std::string& symbol, std::string_view name);

// "Grid::Make" for "_ZN4Grid4MakeEi"; a symbol of C stays.
std::string PlainName(const std::string& symbol);

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_MODULE_FILE_H_
