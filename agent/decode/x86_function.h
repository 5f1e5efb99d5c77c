// Instruction boundaries and direct branches of one function: what is needed to find the
// instruction before a program counter, which x86 code itself does not tell.
//
// Made by decoding linearly from the function's start; kept in a bounded table. Calling thread: the
// drain thread.
#ifndef MEMAGENT_AGENT_DECODE_X86_FUNCTION_H_
#define MEMAGENT_AGENT_DECODE_X86_FUNCTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "agent/base/containers.h"
#include "agent/decode/code_reader.h"
#include "agent/decode/x86_instruction.h"

namespace memagent::decode {

// Longer functions are decoded up to here only. The longest in Debian's packages that we sampled is
// under 100 KiB.
inline constexpr size_t kMaxFunctionBytes = size_t{1} << 20;

struct DirectBranch {
  uint64_t source = 0;
  uint64_t target = 0;
};

class FunctionLayout {
 public:
  // Decodes `code`, the bytes of `bounds`, up to the first that is no instruction.
  FunctionLayout(os::FunctionBounds bounds, std::span<const std::byte> code,
                 const X86Decoder& decoder);

  const os::FunctionBounds& bounds() const { return bounds_; }
  // Whether control can also arrive at places that no instruction names (switch tables, or only a
  // tail call through a pointer: they look alike).
  bool has_indirect_jump() const { return has_indirect_jump_; }
  // Whether an instruction starts at `pc`, by linear decode.
  bool IsBoundary(uint64_t pc) const;
  // The start of the instruction that ends where `pc` starts; nullopt at the function's start and
  // where `pc` is no boundary.
  std::optional<uint64_t> Previous(uint64_t pc) const;
  // The function's direct jumps to `pc`.
  std::span<const DirectBranch> BranchesTo(uint64_t pc) const;
  size_t size_bytes() const;

 private:
  void Mark(size_t offset) { starts_[offset / 64] |= uint64_t{1} << (offset % 64); }
  void AddOutline(uint64_t pc, const InstructionOutline& outline);

  os::FunctionBounds bounds_;
  base::Vector<uint64_t> starts_;        // one bit for each byte: an instruction starts here
  base::Vector<DirectBranch> branches_;  // by target
  bool has_indirect_jump_ = false;
};

class FunctionTable {
 public:
  enum class Miss : uint8_t { kNone, kNoFunction, kUnreadableCode };
  struct Found {
    const FunctionLayout* layout;  // valid until the next call
    Miss miss;
  };

  FunctionTable(CodeReader& code, const X86Decoder& decoder) : code_(code), decoder_(decoder) {}
  Found Around(uint64_t pc);
  void Flush();

 private:
  CodeReader& code_;
  const X86Decoder& decoder_;
  base::OrderedMap<uint64_t, FunctionLayout> functions_;  // by start
  size_t size_bytes_ = 0;
};

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_X86_FUNCTION_H_
