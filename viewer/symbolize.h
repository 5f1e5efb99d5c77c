// From frames of a profile to functions and source lines.
//
// Function names come with the profile (written by the agent from the ELF symbol tables). Lines and
// inlined calls come from the module on disk through elfutils' libdw, and only when its build-id is
// the one that was recorded: another build's lines would be lies.
#ifndef MEMAGENT_VIEWER_SYMBOLIZE_H_
#define MEMAGENT_VIEWER_SYMBOLIZE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/profile/reader.h"
#include "viewer/view.h"

namespace memagent::viewer {

class ModuleLines;  // one module's debug information

// Single-threaded; `profile` must outlive it. Results are cached for each frame.
class Symbolizer {
 public:
  explicit Symbolizer(const profile::Profile& profile);
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // The lines of one frame, innermost inlined call first; never empty. Frame 0 gives one unknown
  // line.
  const std::vector<CodeLine>& Resolve(uint32_t frame_id);

  // Where a variable of a module is declared; function and module are left empty.
  CodeLine ResolveVariable(uint32_t module_id, uint64_t address);

  // For each module whose lines were wanted and are not there; by path.
  std::vector<SymbolNote> Notes() const;

 private:
  ModuleLines& LinesOf(uint32_t module_id);
  std::vector<CodeLine> Compute(uint32_t frame_id);

  const profile::Profile& profile_;
  std::unordered_map<uint32_t, std::unique_ptr<ModuleLines>> modules_;
  std::unordered_map<uint32_t, std::vector<CodeLine>> cache_;
};

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_SYMBOLIZE_H_
