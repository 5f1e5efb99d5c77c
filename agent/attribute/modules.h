// The program and its libraries: which file an address belongs to, and the names in it.
//
// Ids count from 1 and stay with a file at a place, through dlopen and dlclose around it and of
// itself. An unloaded module keeps its record: samples taken shortly before still find it, unless
// another module has its addresses now.
//
// Files are opened when a name is asked for and closed again, and only believed while they are the
// file that is mapped (same inode): a library replaced on disk has no names rather than wrong ones.
// What has no name any more (a deleted program, a library from a memfd) is opened through /proc.
//
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_ATTRIBUTE_MODULES_H_
#define MEMAGENT_AGENT_ATTRIBUTE_MODULES_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "agent/attribute/static_names.h"
#include "agent/base/containers.h"
#include "agent/base/types.h"
#include "agent/os/elf_file.h"
#include "agent/os/proc_maps.h"

namespace memagent::attribute {

struct Module {
  base::String path;
  base::String build_id;     // raw bytes; empty: none, or the file could not be read
  uint64_t headers_key = 0;  // base::ProgramHeadersKey of one without; 0: it has one, or as above
  uint64_t start = 0;        // first mapped address
  uint64_t first_end = 0;    // one past the mapping that begins there
  uint64_t end = 0;          // one past the last, .bss included
  uint64_t load_bias = 0;    // run-time address minus ELF address
  uint64_t inode = 0;
  Nanos loaded = 0;    // when it was first seen
  Nanos unloaded = 0;  // when it was first missed; 0: still there
};

// An address inside a module; module 0: in none, and the address is the run-time address itself.
struct CodeLocation {
  uint32_t module = 0;
  uint64_t address = 0;  // ELF address
  bool operator==(const CodeLocation&) const = default;
};

class Modules final : public StaticNames {
 public:
  // Compares with what /proc/self/maps says now: notes what came and what went.
  void Refresh(std::string_view maps_text, Nanos now);
  void Refresh(std::string_view maps_text) override;  // now: the clock

  CodeLocation Locate(uint64_t address) const;

  // Calls visit(id, module) for each module that a Refresh found gone, once for each time it went.
  template <typename Visit>
  void ForEachNewlyGone(Visit visit) {
    for (auto& [id, record] : records_) {
      if (record.module.unloaded == 0 || record.gone_told) continue;
      record.gone_told = true;
      visit(id, record.module);
    }
  }

  // The variable at a run-time address. The views live as long as this object.
  StaticObject Find(uint64_t address) override;

  // Names of the functions around `addresses` (ELF addresses of one module, ascending), in the same
  // order; all empty when the file can't be read.
  base::Vector<os::FunctionName> FindFunctions(uint32_t module,
                                               std::span<const uint64_t> addresses) const;

  // Modules ever seen; ids are 1 .. count().
  uint32_t count() const { return static_cast<uint32_t>(records_.size()); }
  // An empty Module for an id that is not in use.
  const Module& Get(uint32_t id) const;

 private:
  // Neighbouring mappings of one file.
  struct Group {
    std::string_view path;
    uint64_t inode = 0;
    uint64_t start = 0;
    uint64_t first_end = 0;
    uint64_t end = 0;
    uint64_t last_offset = 0;
    uint64_t code_start = 0;  // the first executable mapping; 0: none, then it is no module
    uint64_t code_offset = 0;
  };
  struct Record {
    Module module;
    bool seen = false;          // by the refresh that is going on
    bool gone_told = false;     // to ForEachNewlyGone
    bool objects_read = false;  // the two below: on first use
    base::Vector<os::ElfObject> objects;
    base::Vector<os::ElfRange> sections;
    base::OrderedMap<uint64_t, base::String> names;  // by ELF address, of objects asked for
  };
  struct Range {
    uint64_t start = 0;
    uint64_t end = 0;
    uint32_t id = 0;
  };

  static base::Vector<Group> GroupsOf(std::string_view maps_text);
  void Notice(const Group& group, Nanos now);
  static Module Describe(const Group& group, Nanos now);
  void RebuildRanges();
  uint32_t FindModule(uint64_t address) const;
  static void ReadObjects(Record& record);
  static std::string_view NameOf(Record& record, const os::ElfObject& object);

  base::OrderedMap<uint32_t, Record> records_;  // nodes don't move: views into them stay good
  const Module none_ = {};
  base::Vector<Range> live_;  // ascending
  base::Vector<Range> gone_;  // newest first
};

}  // namespace memagent::attribute

#endif  // MEMAGENT_AGENT_ATTRIBUTE_MODULES_H_
