#include "viewer/symbolize.h"

#include <map>

#include "viewer/demangle.h"
#include "viewer/function_name.h"
#include "viewer/module_lines.h"

namespace memagent::viewer {
namespace {

CodeLine LineOf(const InlineLevel& level, const CodeLine& base) {
  CodeLine line = base;
  line.file = level.file;
  line.line = level.line;
  if (!level.function.empty()) line.function = Demangle(level.function);
  return line;
}

}  // namespace

Symbolizer::Symbolizer(const profile::Profile& profile) : profile_(profile) {}
Symbolizer::~Symbolizer() = default;

ModuleLines& Symbolizer::LinesOf(uint32_t module_id) {
  std::unique_ptr<ModuleLines>& lines = modules_[module_id];
  if (lines == nullptr) {
    const memagent::v1::Module& module = profile_.modules[module_id];
    lines =
        std::make_unique<ModuleLines>(std::string(profile_.Text(module.path())), module.build_id());
  }
  return *lines;
}

const std::vector<CodeLine>& Symbolizer::Resolve(uint32_t frame_id) {
  const auto found = cache_.find(frame_id);
  if (found != cache_.end()) return found->second;
  return cache_[frame_id] = Compute(frame_id);
}

std::vector<CodeLine> Symbolizer::Compute(uint32_t frame_id) {
  const profile::Frame& frame = profile_.frames[frame_id];
  CodeLine base;
  base.module = std::string(profile_.Text(profile_.ModuleOf(frame_id).path()));
  base.address = frame.address;
  base.function = Demangle(profile_.FunctionOf(frame_id));
  std::vector<CodeLine> lines;
  if (frame.module != 0) {
    // A return address may already belong to the next line, or even the next function.
    const uint64_t address = frame.address - (frame.is_instruction || frame.address == 0 ? 0 : 1);
    ModuleLines& module = LinesOf(frame.module);
    if (base.function.empty()) base.function = Demangle(module.SymbolAt(address));
    for (const InlineLevel& level : module.At(address)) {
      if (!lines.empty()) lines.back().inlined = true;
      lines.push_back(LineOf(level, base));
    }
  }
  if (lines.empty()) lines.push_back(base);
  // Outside of every module a JIT compiler gave the name ("LazyCompile:*f /app/a.js:3"), unless it
  // is mangled: only C++ has something to shorten.
  const bool is_foreign = frame.module == 0 && base.function == profile_.FunctionOf(frame_id);
  for (CodeLine& line : lines) {
    line.short_function = is_foreign ? line.function : ShortName(line.function);
  }
  return lines;
}

CodeLine Symbolizer::ResolveVariable(uint32_t module_id, uint64_t address) {
  CodeLine line;
  if (module_id == 0) return line;
  const InlineLevel place = LinesOf(module_id).VariableAt(address);
  line.file = place.file;
  line.line = place.line;
  return line;
}

std::vector<SymbolNote> Symbolizer::Notes() const {
  std::map<std::string, std::string> notes;
  for (const auto& [id, lines] : modules_) {
    const std::string path(profile_.Text(profile_.modules[id].path()));
    if (!lines->problem().empty()) notes[path] = lines->problem();
  }
  std::vector<SymbolNote> result;
  for (const auto& [module, text] : notes) result.push_back({module, text});
  return result;
}

}  // namespace memagent::viewer
