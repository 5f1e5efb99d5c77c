// Programs and libraries of a recording: one for each file and build, whichever processes mapped it
// and wherever. What a file on this machine tells (variables, functions, where its segments belong)
// is only believed when it is the file that was recorded: the same build id, or without one the
// same inode of the same device.
#ifndef MEMAGENT_VIEWER_IMPORT_MODULES_H_
#define MEMAGENT_VIEWER_IMPORT_MODULES_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/os/elf_file.h"
#include "viewer/import/address_map.h"
#include "viewer/import/perf_data_file.h"

namespace memagent::importer {

struct Module {
  std::string path;
  std::string build_id;  // raw bytes; "": not known
  // Of the first process seen: where its code was, and run-time address minus ELF address.
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t load_bias = 0;
  bool proven = false;  // the file on this machine is the one that was recorded
};

// A variable, or what is known of a place in a module's data.
struct StaticData {
  std::string name;      // not demangled; "": no symbol covers it
  uint64_t address = 0;  // ELF address of the variable
  uint64_t size_bytes = 0;
};

struct FunctionAt {
  std::string name;  // not demangled; "": no symbol covers it
  uint64_t offset = 0;
};

class Modules {
 public:
  explicit Modules(const std::vector<PerfBuildId>& build_ids);

  // The module that `code`, an executable mapping of `file`, is part of. Ids count from 1.
  uint32_t IdOf(const MappedFile& file, const Mapping& code);
  const Module& Get(uint32_t id) const { return records_[id - 1].module; }
  uint32_t count() const { return static_cast<uint32_t>(records_.size()); }

  // Run-time address minus ELF address, in the process that `code` is of.
  uint64_t BiasOf(uint32_t id, const Mapping& code);
  // One past the last ELF address, .bss included; 0: not known.
  uint64_t MemoryEnd(uint32_t id) const { return records_[id - 1].memory_end; }
  StaticData DataAt(uint32_t id, uint64_t elf_address);
  // In the order of `addresses`, which ascend; all without a name where the file is not proven.
  std::vector<FunctionAt> FunctionsAt(uint32_t id, std::span<const uint64_t> addresses) const;

 private:
  struct Record {
    Module module;
    uint64_t memory_end = 0;
    bool objects_read = false;
    base::Vector<os::ElfObject> objects;              // ascending
    std::unordered_map<uint64_t, std::string> names;  // of objects asked for, by address
  };

  const PerfBuildId* RecordedId(const std::string& path) const;
  // What is recorded of a file's build; with a name on this machine that turns out to be it,
  // `proven` and the whole id.
  Module Identify(const MappedFile& file) const;
  uint32_t FindOrMake(const MappedFile& file, const Mapping& code);
  static const std::string& NameOf(Record& record, const os::ElfObject& object);

  std::unordered_map<std::string, const PerfBuildId*> build_ids_;  // by path
  std::vector<Record> records_;
  std::map<std::pair<std::string, std::string>, uint32_t> ids_;  // by path and build id
  std::map<std::string, Module> identified_;                     // by what tells files apart
  std::unordered_map<uint32_t, uint32_t> module_of_mapping_;
  std::unordered_map<uint32_t, uint64_t> bias_of_mapping_;
};

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_MODULES_H_
