// What a sampled address belongs to, and which code made the access, by the mappings at that time.
// There are no allocations in a perf.data file: a site is a variable, a mapping, a stack, a heap, a
// file, or the fact that one of these is not known.
#ifndef MEMAGENT_VIEWER_IMPORT_PLACES_H_
#define MEMAGENT_VIEWER_IMPORT_PLACES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/base/types.h"
#include "viewer/import/modules.h"
#include "viewer/import/world.h"

namespace memagent::importer {

struct ImportedSite {
  RegionKind kind = RegionKind::kUnknown;
  std::string name;
  uint32_t module = 0;
  uint64_t address = 0;     // kGlobal: ELF address of the variable; kMmap: where the mapping begins
  uint64_t size_bytes = 0;  // 0: not known
};

struct CodePlace {
  uint32_t module = 0;   // 0: in none; then the address is the run-time address
  uint64_t address = 0;  // ELF address
  auto operator<=>(const CodePlace&) const = default;
};

class Places {
 public:
  Places(const World& world, Modules& modules) : world_(world), modules_(modules) {}

  // Site id of an address in a process.
  uint32_t SiteAt(int32_t pid, uint64_t address);
  // Of what has no address of a process, by a name of ours.
  uint32_t SiteNamed(RegionKind kind, std::string_view name);
  CodePlace CodeAt(int32_t pid, uint64_t ip);

  // Frame ids count from 1.
  uint32_t FrameOf(const CodePlace& place);

  const std::vector<ImportedSite>& sites() const { return sites_; }  // id - 1
  const std::vector<CodePlace>& frames() const { return frames_; }   // id - 1
  // Samples that were looked up and lie in no mapping that is known.
  uint64_t unknown_addresses() const { return unknown_addresses_; }

 private:
  uint32_t SiteOf(ImportedSite site);
  uint32_t SiteOfMapping(const Mapping& mapping);
  uint32_t SiteInModule(const Mapping& code, uint64_t address);
  // The code of the module whose .bss begins there; nullptr: of none.
  const Mapping* CodeOfBss(const AddressMap& map, const Mapping& mapping, uint64_t address);

  const World& world_;
  Modules& modules_;
  std::vector<ImportedSite> sites_;
  std::vector<CodePlace> frames_;
  std::map<std::string, uint32_t> site_ids_;
  std::unordered_map<uint32_t, uint32_t> site_of_mapping_;
  std::map<CodePlace, uint32_t> frame_ids_;
  uint64_t unknown_addresses_ = 0;
};

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_PLACES_H_
