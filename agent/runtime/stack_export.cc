#include "agent/runtime/stack_export.h"

#include <algorithm>

#include "agent/capture/stack_trie.h"
#include "agent/os/perf_map.h"

namespace memagent::runtime {
namespace {

// One key for a frame: module ids stay far below 2^16, user addresses below 2^47.
uint64_t KeyOf(const attribute::CodeLocation& place, bool is_instruction) {
  return place.address << 17 | uint64_t{place.module} << 1 | (is_instruction ? 1 : 0);
}

}  // namespace

uint32_t StackExport::FrameOf(uint64_t pc, bool is_instruction) {
  // A return address may be one past the end of its module's last function.
  attribute::CodeLocation place = modules_.Locate(is_instruction ? pc : pc - 1);
  if (!is_instruction) ++place.address;
  return FrameAt(place, is_instruction);
}

uint32_t StackExport::CallerFrame(StackId stack) {
  capture::StackNode node;
  for (; capture::ReadStackNode(stack, node); stack = node.parent) {
    const std::string_view path = modules_.Get(modules_.Locate(node.pc - 1).module).path;
    if (path.find("/libnuma.so") == std::string_view::npos) return FrameOf(node.pc, false);
  }
  return 0;
}

uint32_t StackExport::FrameAt(const attribute::CodeLocation& place, bool is_instruction) {
  uint32_t& id = frame_ids_[KeyOf(place, is_instruction)];
  if (id == 0) {
    frames_.push_back({place.module, place.address, is_instruction});
    id = static_cast<uint32_t>(frames_.size());
  }
  return id;
}

base::CodePlace StackExport::PlaceOfCall(uint64_t address) const {
  const attribute::CodeLocation place = modules_.Locate(address);
  if (place.module == 0) return {};
  const attribute::Module& module = modules_.Get(place.module);
  return {{reinterpret_cast<const uint8_t*>(module.build_id.data()), module.build_id.size()},
          module.headers_key,
          place.address};
}

bool StackExport::TakeNode(uint32_t id) {
  capture::StackNode node;
  if (!capture::ReadStackNode(StackId{id}, node)) return false;
  stacks_.push_back({stack_of_node_[static_cast<uint32_t>(node.parent)], FrameOf(node.pc, false)});
  stack_of_node_[id] = static_cast<uint32_t>(stacks_.size());
  return true;
}

// A node that is being written right now is looked at again next time; its children come later.
void StackExport::Update() {
  base::Vector<uint32_t> again;
  again.swap(unreadable_);
  for (uint32_t id : again) {
    if (!TakeNode(id)) unreadable_.push_back(id);
  }
  if (stack_of_node_.empty()) stack_of_node_.push_back(0);
  const uint32_t count = capture::StackCount();
  for (auto id = static_cast<uint32_t>(stack_of_node_.size()); id <= count; ++id) {
    stack_of_node_.push_back(0);
    if (!TakeNode(id)) unreadable_.push_back(id);
  }
}

uint32_t StackExport::StackOf(StackId stack) const {
  const auto id = static_cast<uint32_t>(stack);
  return id < stack_of_node_.size() ? stack_of_node_[id] : 0;
}

void StackExport::WriteModules(profile::ProfileWriter& writer) {
  for (; modules_written_ < modules_.count(); ++modules_written_) {
    const auto id = static_cast<uint32_t>(modules_written_ + 1);
    const attribute::Module& module = modules_.Get(id);
    const profile::ModuleData data = {module.path,      module.build_id, module.start,   module.end,
                                      module.load_bias, module.loaded,   module.unloaded};
    writer.WriteModules(id, std::span(&data, 1));
  }
}

base::Vector<os::FunctionName> StackExport::NamesOf(uint32_t module,
                                                    std::span<const uint64_t> addresses) const {
  return module == 0 ? os::ReadPerfMap(pid_, addresses) : modules_.FindFunctions(module, addresses);
}

// Names the frames from `frames_written_` on, module by module: one pass over each symbol table.
void StackExport::WriteSymbols(profile::ProfileWriter& writer) {
  base::Vector<uint32_t> order;
  for (size_t i = frames_written_; i < frames_.size(); ++i) {
    order.push_back(static_cast<uint32_t>(i));
  }
  const auto lookup_address = [this](uint32_t i) {
    return frames_[i].address - (frames_[i].is_instruction ? 0 : 1);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (frames_[a].module != frames_[b].module) return frames_[a].module < frames_[b].module;
    return lookup_address(a) < lookup_address(b);
  });
  for (size_t begin = 0; begin < order.size();) {
    const uint32_t module = frames_[order[begin]].module;
    base::Vector<uint64_t> addresses;
    size_t end = begin;
    for (; end < order.size() && frames_[order[end]].module == module; ++end) {
      addresses.push_back(lookup_address(order[end]));
    }
    const auto names = NamesOf(module, addresses);
    base::Vector<profile::SymbolData> rows;
    for (size_t i = 0; i < names.size(); ++i) {
      if (module == 0 && names[i].name.empty()) continue;
      rows.push_back({order[begin + i] + 1, names[i].name, names[i].offset});
    }
    writer.WriteSymbols(rows);
    begin = end;
  }
}

void StackExport::Write(profile::ProfileWriter& writer) {
  WriteModules(writer);
  writer.WriteFrames(static_cast<uint32_t>(frames_written_ + 1),
                     std::span(frames_).subspan(frames_written_));
  writer.WriteStacks(static_cast<uint32_t>(stacks_written_ + 1),
                     std::span(stacks_).subspan(stacks_written_));
  WriteSymbols(writer);
  frames_written_ = frames_.size();
  stacks_written_ = stacks_.size();
}

void StackExport::StartOver() { modules_written_ = frames_written_ = stacks_written_ = 0; }

}  // namespace memagent::runtime
