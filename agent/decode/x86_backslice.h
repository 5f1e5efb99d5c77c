// Recovers a register that the access itself overwrote, by re-running the straight-line code
// around the access: backwards through operations that lose nothing, forwards from registers that
// are provably unmodified, and through copies. Nothing is guessed: an unknown input, a memory
// load, a call or a place another path can reach ends the search.
#ifndef MEMAGENT_AGENT_DECODE_X86_BACKSLICE_H_
#define MEMAGENT_AGENT_DECODE_X86_BACKSLICE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "agent/decode/x86_code_cache.h"
#include "agent/decode/x86_function.h"
#include "agent/decode/x86_semantics.h"

namespace memagent::decode {

class Backslice {
 public:
  // The run of instructions that ends with the access; `after` are the registers after it.
  // `include_earlier`: also look at the code before the access.
  Backslice(const Instruction& access, const std::array<uint64_t, kGprCount>& after,
            bool include_earlier, const FunctionLayout& layout, InstructionCache& instructions);

  // A register's value just before the access.
  Value BeforeAccess(Gpr gpr);

 private:
  // Longer runs were never needed: python3, the only program that gains, needs under 10.
  static constexpr size_t kMaxRun = 24;
  static constexpr int kMaxSteps = 96;  // bounds the search where registers depend on each other

  void Prepend(const FunctionLayout& layout, InstructionCache& instructions);
  Value Before(size_t position, Gpr gpr);
  Value Search(size_t position, Gpr gpr);
  Value ThroughInverse(size_t writer, Gpr gpr);
  Value ThroughCopy(size_t first, size_t last, Gpr gpr);
  Value ThroughForward(size_t writer, Gpr gpr);
  Inputs InputsOf(size_t position, bool with_destination);

  std::array<Instruction, kMaxRun> run_;  // filled from the end
  size_t begin_ = kMaxRun - 1;
  std::array<uint64_t, kGprCount> after_;
  std::array<uint16_t, kMaxRun + 1> asked_ = {};  // by position: bit mask over Gpr
  int steps_ = kMaxSteps;
};

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_X86_BACKSLICE_H_
