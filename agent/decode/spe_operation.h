// The payload of an operation packet of Arm SPE: what kind of instruction was sampled. Pure.
//
// Source: Arm ARM DDI 0487, "Operation Type packet" (facts: perf_abi 4.4). Calling thread: any.
#ifndef MEMAGENT_AGENT_DECODE_SPE_OPERATION_H_
#define MEMAGENT_AGENT_DECODE_SPE_OPERATION_H_

#include <cstdint>

namespace memagent::decode {

// The index of the packet.
enum class SpeOperationClass : uint8_t { kOther = 0, kMemory = 1, kBranch = 2, kReserved = 3 };

// What a memory operation moves.
enum class SpeMemoryKind : uint8_t {
  kUnknown,
  kExtended,  // atomic, exclusive or ordered; see the flags
  kGeneralRegister,
  kVectorRegister,  // SIMD and floating point
  kUnspecifiedRegister,
  kSystemRegister,
  kTag,  // of the Memory Tagging Extension
  kCopy,
  kSet,
  kScalableVector,  // SVE or SME
  kControlStack,    // the Guarded Control Stack
};

struct SpeOperation {
  SpeOperationClass operation_class = SpeOperationClass::kReserved;
  // All below: of class kMemory only.
  SpeMemoryKind kind = SpeMemoryKind::kUnknown;
  bool is_store = false;  // else a load; an atomic one may do both
  bool atomic = false;
  bool exclusive = false;
  bool acquire_release = false;
  bool predicated = false;
  bool gather_scatter = false;
  bool common_stack_operation = false;  // kControlStack: not a procedure's call or return
  uint16_t vector_bits = 0;             // kScalableVector: effective vector length
};

SpeOperation ParseSpeOperation(uint8_t index, uint64_t payload);

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_SPE_OPERATION_H_
