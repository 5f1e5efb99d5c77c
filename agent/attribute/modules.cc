#include "agent/attribute/modules.h"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

#include "agent/base/placement_rule.h"
#include "agent/base/syscall.h"
#include "agent/os/clock.h"

namespace memagent::attribute {
namespace {

// Variables are rarely nested (a section-wide symbol around smaller ones): so many before the
// nearest start are tried.
constexpr int kNestedObjects = 4;

// The names of a program or library that its path no longer leads to. The executable's link needs
// no rights; that of another mapping needs CAP_CHECKPOINT_RESTORE (proc(5), map_files), and without
// it module and address remain.
os::FileSource OpenUnnamed(const Module& module) {
  char target[4096];
  const long length =
      base::Syscall(SYS_readlinkat, AT_FDCWD, "/proc/thread-self/exe", target, sizeof(target));
  const std::string_view executable(target, length > 0 ? static_cast<size_t>(length) : 0);
  if (executable.starts_with(module.path) &&
      executable.substr(module.path.size()) == " (deleted)") {
    return os::FileSource("/proc/thread-self/exe");
  }
  base::String link("/proc/self/map_files/");
  char digits[17];
  link.append(digits, std::to_chars(digits, std::end(digits), module.start, 16).ptr);
  link.push_back('-');
  link.append(digits, std::to_chars(digits, std::end(digits), module.first_end, 16).ptr);
  return os::FileSource(link.c_str());
}

os::FileSource OpenMapped(const Module& module) {
  os::FileSource named(module.path.c_str());
  return named.inode() == module.inode ? std::move(named) : OpenUnnamed(module);
}

uint64_t HeadersKeyOf(const os::ElfFile& file) {
  const base::String table = file.ProgramHeaders();
  if (table.empty()) return 0;
  return base::ProgramHeadersKey({reinterpret_cast<const uint8_t*>(table.data()), table.size()});
}

// The mapped file itself, or a source of size 0 when another file has its name now.
class MappedFile {
 public:
  explicit MappedFile(const Module& module) : source_(OpenMapped(module)) {
    if (source_.inode() == module.inode) file_ = os::ElfFile::Parse(source_);
  }
  const os::ElfFile* get() const { return file_ ? &*file_ : nullptr; }

 private:
  os::FileSource source_;
  std::optional<os::ElfFile> file_;
};

}  // namespace

base::Vector<Modules::Group> Modules::GroupsOf(std::string_view maps_text) {
  base::Vector<Group> groups;
  os::ForEachMapping(maps_text, [&](const os::Mapping& mapping) {
    if (mapping.inode == 0 || !mapping.path.starts_with('/')) return;
    const bool continues = !groups.empty() && groups.back().inode == mapping.inode &&
                           groups.back().path == mapping.path &&
                           groups.back().last_offset < mapping.file_offset;
    if (!continues) {
      groups.push_back(Group{mapping.path, mapping.inode, mapping.start, mapping.end, mapping.end,
                             mapping.file_offset, 0, 0});
    }
    Group& group = groups.back();
    group.end = mapping.end;
    group.last_offset = mapping.file_offset;
    if (mapping.executable && group.code_start == 0) {
      group.code_start = mapping.start;
      group.code_offset = mapping.file_offset;
    }
  });
  return groups;
}

Module Modules::Describe(const Group& group, Nanos now) {
  Module module;
  module.path = base::String(group.path);
  module.start = group.start;
  module.first_end = group.first_end;
  module.end = group.end;
  module.inode = group.inode;
  module.loaded = now;
  // Without the file, the usual layout: the first segment has ELF address 0.
  module.load_bias = group.code_start - group.code_offset;
  const MappedFile mapped(module);
  if (const os::ElfFile* file = mapped.get()) {
    module.build_id = base::String(file->build_id());
    if (module.build_id.empty()) module.headers_key = HeadersKeyOf(*file);
    module.load_bias =
        file->LoadBias(group.code_start, group.code_offset, true).value_or(module.load_bias);
    module.end = std::max(module.end, file->MemoryEnd() + module.load_bias);
  }
  return module;
}

void Modules::Notice(const Group& group, Nanos now) {
  for (auto& [id, record] : records_) {
    const Module& module = record.module;
    if (module.start != group.start || module.inode != group.inode || module.path != group.path) {
      continue;
    }
    record.seen = true;
    record.gone_told = false;
    record.module.unloaded = 0;
    return;
  }
  Record& record = records_[count() + 1];
  record.module = Describe(group, now);
  record.seen = true;
}

void Modules::Refresh(std::string_view maps_text, Nanos now) {
  for (auto& [id, record] : records_) record.seen = false;
  for (const Group& group : GroupsOf(maps_text)) {
    if (group.code_start != 0) Notice(group, now);
  }
  for (auto& [id, record] : records_) {
    if (!record.seen && record.module.unloaded == 0) record.module.unloaded = now;
  }
  RebuildRanges();
}

void Modules::Refresh(std::string_view maps_text) { Refresh(maps_text, os::MonotonicNanos()); }

void Modules::RebuildRanges() {
  live_.clear();
  gone_.clear();
  for (const auto& [id, record] : records_) {
    const Module& module = record.module;
    (module.unloaded == 0 ? live_ : gone_).push_back(Range{module.start, module.end, id});
  }
  std::sort(live_.begin(), live_.end(),
            [](const Range& a, const Range& b) { return a.start < b.start; });
  // The end comes from the file's headers (.bss): it must not reach into the next module.
  for (size_t i = 1; i < live_.size(); ++i) {
    live_[i - 1].end = std::min(live_[i - 1].end, live_[i].start);
  }
  std::sort(gone_.begin(), gone_.end(), [this](const Range& a, const Range& b) {
    return Get(a.id).unloaded > Get(b.id).unloaded;
  });
}

uint32_t Modules::FindModule(uint64_t address) const {
  const auto above =
      std::upper_bound(live_.begin(), live_.end(), address,
                       [](uint64_t value, const Range& range) { return value < range.start; });
  if (above != live_.begin() && address < std::prev(above)->end) return std::prev(above)->id;
  for (const Range& range : gone_) {
    if (address >= range.start && address < range.end) return range.id;
  }
  return 0;
}

CodeLocation Modules::Locate(uint64_t address) const {
  const uint32_t id = FindModule(address);
  return CodeLocation{id, address - Get(id).load_bias};
}

const Module& Modules::Get(uint32_t id) const {
  const auto it = records_.find(id);
  return it == records_.end() ? none_ : it->second.module;
}

void Modules::ReadObjects(Record& record) {
  if (record.objects_read) return;
  record.objects_read = true;
  const MappedFile mapped(record.module);
  if (mapped.get() == nullptr) return;
  record.objects = mapped.get()->Objects();
  record.sections = mapped.get()->Sections();
}

std::string_view Modules::NameOf(Record& record, const os::ElfObject& object) {
  const auto known = record.names.find(object.address);
  if (known != record.names.end()) return known->second;
  base::String& name = record.names[object.address];
  const MappedFile mapped(record.module);
  if (mapped.get() != nullptr) name = mapped.get()->NameOf(object);
  return name;
}

StaticObject Modules::Find(uint64_t address) {
  StaticObject found;
  found.module = FindModule(address);
  if (found.module == 0) return found;
  Record& record = records_.find(found.module)->second;
  ReadObjects(record);
  found.module_path = record.module.path;
  const uint64_t elf_address = address - record.module.load_bias;
  auto object = std::upper_bound(
      record.objects.begin(), record.objects.end(), elf_address,
      [](uint64_t value, const os::ElfObject& candidate) { return value < candidate.address; });
  for (int i = 0; i < kNestedObjects && object != record.objects.begin(); ++i) {
    --object;
    if (elf_address - object->address >= object->size_bytes) continue;
    found.address = object->address;
    found.start = object->address + record.module.load_bias;
    found.size_bytes = object->size_bytes;
    found.name = NameOf(record, *object);
    return found;
  }
  for (const os::ElfRange& section : record.sections) {
    if (elf_address >= section.start && elf_address < section.end) found.address = section.start;
  }
  return found;
}

base::Vector<os::FunctionName> Modules::FindFunctions(uint32_t module,
                                                      std::span<const uint64_t> addresses) const {
  const MappedFile mapped(Get(module));
  if (mapped.get() == nullptr) return base::Vector<os::FunctionName>(addresses.size());
  return mapped.get()->FindFunctions(addresses);
}

}  // namespace memagent::attribute
