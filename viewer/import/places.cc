#include "viewer/import/places.h"

#include <algorithm>

#include "viewer/concat.h"

namespace memagent::importer {
namespace {

using viewer::Concat;

// Site ids have 22 bits (agent/profile/FORMAT.md). Single mappings beyond this many are one site.
constexpr size_t kMostSites = 1'000'000;

constexpr std::string_view kUnknownMapping = "[unknown mapping]";
constexpr std::string_view kAnonymous = "[anonymous mapping]";

std::string_view FileName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool IsKernel(uint64_t address) { return address >> 63 != 0; }

// perf names the kernel's own mapping after the symbol that it measured it by.
MappedFile WithoutSymbol(MappedFile file) {
  const size_t end = file.path.find(']');
  if (file.path.starts_with('[') && end != std::string::npos) file.path.resize(end + 1);
  return file;
}

}  // namespace

uint32_t Places::SiteOf(ImportedSite site) {
  const std::string key =
      Concat(static_cast<int>(site.kind), ":", site.module, ":", site.address, ":", site.name);
  const auto [known, fresh] = site_ids_.try_emplace(key, static_cast<uint32_t>(sites_.size()) + 1);
  if (fresh) sites_.push_back(std::move(site));
  return known->second;
}

uint32_t Places::SiteNamed(RegionKind kind, std::string_view name) {
  return SiteOf({kind, std::string(name), 0, 0, 0});
}

uint32_t Places::SiteOfMapping(const Mapping& mapping) {
  uint32_t& site = site_of_mapping_[mapping.id];
  if (site == 0) {
    if (sites_.size() >= kMostSites) return SiteNamed(RegionKind::kMmap, "[other mappings]");
    // Two processes may have mappings at one address: these are two sites of one name.
    sites_.push_back({RegionKind::kMmap, std::string(kAnonymous), 0, mapping.start, 0});
    site = static_cast<uint32_t>(sites_.size());
  }
  ImportedSite& known = sites_[site - 1];
  const uint64_t end = std::max(known.address + known.size_bytes, mapping.end);
  known.address = std::min(known.address, mapping.start);
  known.size_bytes = end - known.address;
  return site;
}

uint32_t Places::SiteInModule(const Mapping& code, uint64_t address) {
  const uint32_t module = modules_.IdOf(world_.files().Get(code.file), code);
  StaticData data = modules_.DataAt(module, address - modules_.BiasOf(module, code));
  if (!data.name.empty()) {
    return SiteOf(
        {RegionKind::kGlobal, std::move(data.name), module, data.address, data.size_bytes});
  }
  const std::string name = Concat("[data of ", FileName(modules_.Get(module).path), "]");
  return SiteOf({RegionKind::kGlobal, name, module, 0, 0});
}

// The part of .bss behind the file's last page is mapped on its own right behind the data.
const Mapping* Places::CodeOfBss(const AddressMap& map, const Mapping& mapping, uint64_t address) {
  const Mapping* data = map.Before(mapping);
  if (data == nullptr || !data->writable || !mapping.writable ||
      world_.files().Get(data->file).kind != MappingKind::kFile) {
    return nullptr;
  }
  const Mapping* code = map.CodeOf(*data);
  if (code == nullptr) return nullptr;
  const uint32_t module = modules_.IdOf(world_.files().Get(code->file), *code);
  const uint64_t end = modules_.MemoryEnd(module);
  return end == 0 || address - modules_.BiasOf(module, *code) < end ? code : nullptr;
}

uint32_t Places::SiteAt(int32_t pid, uint64_t address) {
  const AddressMap* map = world_.MapOf(pid);
  const Mapping* mapping = map == nullptr ? nullptr : map->Find(address);
  if (mapping == nullptr) {
    ++unknown_addresses_;
    return SiteNamed(RegionKind::kUnknown, kUnknownMapping);
  }
  const MappedFile& file = world_.files().Get(mapping->file);
  switch (file.kind) {
    case MappingKind::kAnonymous: {
      const Mapping* code = CodeOfBss(*map, *mapping, address);
      return code != nullptr ? SiteInModule(*code, address) : SiteOfMapping(*mapping);
    }
    case MappingKind::kHeap:
      return SiteNamed(RegionKind::kHeap, file.path);
    case MappingKind::kStack:
      return SiteNamed(RegionKind::kStack, "main");
    case MappingKind::kKernel:
      return SiteNamed(RegionKind::kUnknown, file.path);
    case MappingKind::kShared:
      return SiteNamed(RegionKind::kShm, file.path);
    case MappingKind::kFile:
      break;
  }
  const Mapping* code = map->CodeOf(*mapping);
  return code != nullptr ? SiteInModule(*code, address) : SiteNamed(RegionKind::kFile, file.path);
}

CodePlace Places::CodeAt(int32_t pid, uint64_t ip) {
  if (ip == 0) return {};
  const AddressMap* map = IsKernel(ip) ? &world_.kernel() : world_.MapOf(pid);
  const Mapping* code = map == nullptr ? nullptr : map->Find(ip);
  if (code == nullptr) return {0, ip};
  const MappedFile& file = world_.files().Get(code->file);
  if (file.kind != MappingKind::kFile && file.kind != MappingKind::kKernel) return {0, ip};
  const uint32_t module = modules_.IdOf(WithoutSymbol(file), *code);
  return {module, ip - modules_.BiasOf(module, *code)};
}

uint32_t Places::FrameOf(const CodePlace& place) {
  const auto [known, fresh] =
      frame_ids_.try_emplace(place, static_cast<uint32_t>(frames_.size()) + 1);
  if (fresh) frames_.push_back(place);
  return known->second;
}

}  // namespace memagent::importer
