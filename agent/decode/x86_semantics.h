// What the simple operations compute, forwards and backwards, and when a condition holds.
// Pure functions over values that may be unknown: an unknown input never becomes a known output.
#ifndef MEMAGENT_AGENT_DECODE_X86_SEMANTICS_H_
#define MEMAGENT_AGENT_DECODE_X86_SEMANTICS_H_

#include <array>
#include <cstdint>
#include <optional>

#include "agent/decode/sample.h"
#include "agent/decode/x86_instruction.h"

namespace memagent::decode {

using Value = std::optional<uint64_t>;

// The values an instruction reads, as far as they are known: whole 64-bit registers.
struct Inputs {
  Value destination;
  Value source;
  Value base;   // of the address expression
  Value index;  // of the address expression
};

// RFLAGS of which only the bits in `known` are meaningful.
struct Flags {
  uint64_t value = 0;
  uint64_t known = 0;
};

// The general registers of a sample in hardware order.
std::array<uint64_t, kGprCount> GprsOf(const Registers& registers);

// The address; nullopt when a needed register is unknown, a part is opaque, or the segment is fs
// with an `fs_base` of 0 (unknown), or gs.
Value ComputeAddress(const AddressExpression& address, Value base, Value index, uint64_t fs_base);

// The destination register after the instruction; nullopt for kOther and unknown inputs.
Value ForwardValue(const Instruction& instruction, const Inputs& inputs);

// The destination register before the instruction, from its value `after`; nullopt when the
// operation loses information. `inputs.destination` is ignored.
Value InverseValue(const Instruction& instruction, uint64_t after, const Inputs& inputs);

// The flags after the instruction. Undefined flags become unknown.
Flags FlagsAfter(const Instruction& instruction, const Inputs& inputs, Flags before);

// Whether a jump with this condition is taken; nullopt when a flag it tests is unknown.
std::optional<bool> IsTaken(uint8_t condition, Flags flags);

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_X86_SEMANTICS_H_
