#include "viewer/import/modules.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <optional>

#include "viewer/concat.h"

namespace memagent::importer {
namespace {

constexpr int kNestedObjects = 4;  // as attribute/modules.cc: sections as symbols around variables

// A file of this machine while something of it is read.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : source_(path.c_str()) {
    if (source_.size_bytes() > 0) elf_ = os::ElfFile::Parse(source_);
  }
  const os::ElfFile* get() const { return elf_ ? &*elf_ : nullptr; }

 private:
  os::FileSource source_;
  std::optional<os::ElfFile> elf_;
};

bool SameInode(const MappedFile& file) {
  struct stat facts = {};
  if (file.inode == 0 || ::stat(file.path.c_str(), &facts) != 0) return false;
  return facts.st_ino == file.inode && major(facts.st_dev) == file.major &&
         minor(facts.st_dev) == file.minor;
}

bool SameBuild(const PerfBuildId& recorded, std::string_view found) {
  if (found.empty()) return false;
  if (recorded.size_known) return recorded.id == found;
  const std::string_view padded = recorded.id;
  return padded.starts_with(found) &&
         padded.find_first_not_of('\0', found.size()) == std::string_view::npos;
}

}  // namespace

Modules::Modules(const std::vector<PerfBuildId>& build_ids) {
  for (const PerfBuildId& build_id : build_ids) build_ids_[build_id.path] = &build_id;
}

const PerfBuildId* Modules::RecordedId(const std::string& path) const {
  const auto known = build_ids_.find(path);
  return known == build_ids_.end() ? nullptr : known->second;
}

Module Modules::Identify(const MappedFile& file) const {
  Module module;
  module.path = file.path;
  PerfBuildId recorded = {file.path, file.build_id, true};
  if (file.build_id.empty()) {
    if (const PerfBuildId* listed = RecordedId(file.path)) recorded = *listed;
  }
  module.build_id = recorded.id;
  if (!file.path.starts_with('/')) return module;
  const OpenFile open(file.path);
  if (open.get() == nullptr) return module;
  const std::string found(open.get()->build_id());
  module.proven = recorded.id.empty() ? SameInode(file) : SameBuild(recorded, found);
  if (module.proven) module.build_id = found;
  return module;
}

uint32_t Modules::IdOf(const MappedFile& file, const Mapping& code) {
  uint32_t& id = module_of_mapping_[code.id];
  if (id == 0) id = FindOrMake(file, code);
  return id;
}

uint32_t Modules::FindOrMake(const MappedFile& file, const Mapping& code) {
  const std::string key = viewer::Concat(file.path, std::string(1, '\0'), file.build_id, file.inode,
                                         ":", file.major, ":", file.minor);
  const auto [identity, fresh_file] = identified_.try_emplace(key);
  if (fresh_file) identity->second = Identify(file);
  const Module& module = identity->second;
  const auto next = static_cast<uint32_t>(records_.size()) + 1;
  const auto [known, fresh] = ids_.try_emplace({module.path, module.build_id}, next);
  if (fresh) {
    records_.emplace_back().module = module;
    Module& record = records_.back().module;
    record.start = code.start;
    record.end = code.end;
    if (module.proven) {
      if (const OpenFile open(module.path); open.get() != nullptr) {
        records_.back().memory_end = open.get()->MemoryEnd();
      }
    }
    record.load_bias = BiasOf(next, code);
  }
  return known->second;
}

uint64_t Modules::BiasOf(uint32_t id, const Mapping& code) {
  const auto [known, fresh] = bias_of_mapping_.try_emplace(code.id, code.start - code.offset);
  if (fresh && Get(id).proven) {
    // Without the file, the usual layout: the first segment has ELF address 0.
    const OpenFile open(Get(id).path);
    if (open.get() != nullptr) {
      known->second = open.get()->LoadBias(code.start, code.offset, true).value_or(known->second);
    }
  }
  return known->second;
}

const std::string& Modules::NameOf(Record& record, const os::ElfObject& object) {
  const auto [known, fresh] = record.names.try_emplace(object.address);
  if (fresh) {
    const OpenFile open(record.module.path);
    if (open.get() != nullptr) known->second = open.get()->NameOf(object);
  }
  return known->second;
}

StaticData Modules::DataAt(uint32_t id, uint64_t elf_address) {
  Record& record = records_[id - 1];
  if (!record.module.proven) return {};
  if (!record.objects_read) {
    record.objects_read = true;
    const OpenFile open(record.module.path);
    if (open.get() != nullptr) record.objects = open.get()->Objects();
  }
  auto object = std::upper_bound(
      record.objects.begin(), record.objects.end(), elf_address,
      [](uint64_t value, const os::ElfObject& candidate) { return value < candidate.address; });
  for (int i = 0; i < kNestedObjects && object != record.objects.begin(); ++i) {
    --object;
    if (elf_address - object->address >= object->size_bytes) continue;
    return {NameOf(record, *object), object->address, object->size_bytes};
  }
  return {};
}

std::vector<FunctionAt> Modules::FunctionsAt(uint32_t id,
                                             std::span<const uint64_t> addresses) const {
  std::vector<FunctionAt> functions(addresses.size());
  const Module& module = Get(id);
  if (!module.proven) return functions;
  const OpenFile open(module.path);
  if (open.get() == nullptr) return functions;
  const base::Vector<os::FunctionName> found = open.get()->FindFunctions(addresses);
  for (size_t i = 0; i < functions.size() && i < found.size(); ++i) {
    functions[i] = {std::string(found[i].name), found[i].offset};
  }
  return functions;
}

}  // namespace memagent::importer
