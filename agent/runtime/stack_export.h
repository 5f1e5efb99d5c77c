// Copies call stacks from the capture stage's trie into the profile, each once, and names their
// frames. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_STACK_EXPORT_H_
#define MEMAGENT_AGENT_RUNTIME_STACK_EXPORT_H_

#include <cstdint>
#include <span>

#include "agent/attribute/modules.h"
#include "agent/base/containers.h"
#include "agent/base/placement_rule.h"
#include "agent/base/types.h"
#include "agent/profile/writer.h"

namespace memagent::runtime {

class StackExport {
 public:
  // `pid`: under which the program writes the names of code it makes at run time (os/perf_map.h).
  StackExport(attribute::Modules& modules, int32_t pid) : modules_(modules), pid_(pid) {}

  // Reads what the trie has gained.
  void Update();

  // Frame of a code address: an instruction, or a return address.
  uint32_t FrameOf(uint64_t pc, bool is_instruction);

  // Frame of the innermost caller that is not libnuma's; 0 when the stack is not known.
  uint32_t CallerFrame(StackId stack);

  uint32_t FrameAt(const attribute::CodeLocation& place, bool is_instruction);

  // The module and ELF address of a call, as far as they are known.
  base::CodePlace PlaceOfCall(uint64_t address) const;

  // Profile id of a stack; 0 when the trie does not know it.
  uint32_t StackOf(StackId stack) const;

  // Writes what is new since the last Write: modules, frames, stacks, then names.
  void Write(profile::ProfileWriter& writer);

  // The next Write starts from nothing (a rewritten file).
  void StartOver();

 private:
  bool TakeNode(uint32_t id);
  void WriteModules(profile::ProfileWriter& writer);
  void WriteSymbols(profile::ProfileWriter& writer);
  base::Vector<os::FunctionName> NamesOf(uint32_t module,
                                         std::span<const uint64_t> addresses) const;

  attribute::Modules& modules_;
  int32_t pid_;
  base::HashMap<uint64_t, uint32_t> frame_ids_;  // by module, address and kind
  base::Vector<profile::FrameData> frames_;      // id - 1
  base::Vector<profile::StackData> stacks_;      // id - 1
  base::Vector<uint32_t> stack_of_node_;         // by trie id
  base::Vector<uint32_t> unreadable_;            // trie ids that were being written
  size_t modules_written_ = 0;
  size_t frames_written_ = 0;
  size_t stacks_written_ = 0;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_STACK_EXPORT_H_
