#include "agent/decode/spe_operation.h"

namespace memagent::decode {
namespace {

// In the order in which the patterns are to be tried: some overlap.
SpeMemoryKind KindOf(uint64_t payload) {
  if ((payload & 0xe2) == 0x02) return SpeMemoryKind::kExtended;
  if ((payload & 0xfe) == 0x04) return SpeMemoryKind::kVectorRegister;
  if ((payload & 0xfe) == 0x00) return SpeMemoryKind::kGeneralRegister;
  if ((payload & 0xfe) == 0x10) return SpeMemoryKind::kUnspecifiedRegister;
  if ((payload & 0xfe) == 0x30) return SpeMemoryKind::kSystemRegister;
  if ((payload & 0xfe) == 0x14) return SpeMemoryKind::kTag;
  if ((payload & 0xfe) == 0x20) return SpeMemoryKind::kCopy;
  if (payload == 0x25) return SpeMemoryKind::kSet;
  if ((payload & 0x0a) == 0x08) return SpeMemoryKind::kScalableVector;
  if ((payload & 0xfa) == 0x40) return SpeMemoryKind::kControlStack;
  return SpeMemoryKind::kUnknown;
}

}  // namespace

SpeOperation ParseSpeOperation(uint8_t index, uint64_t payload) {
  SpeOperation operation;
  operation.operation_class = static_cast<SpeOperationClass>(index & 3);
  if (operation.operation_class != SpeOperationClass::kMemory) return operation;
  const auto bit = [&](int number) { return (payload >> number & 1) != 0; };
  operation.kind = KindOf(payload);
  operation.is_store = bit(0);
  switch (operation.kind) {
    case SpeMemoryKind::kExtended:
      operation.atomic = bit(2);
      operation.exclusive = bit(3);
      operation.acquire_release = bit(4);
      break;
    case SpeMemoryKind::kScalableVector:
      operation.vector_bits = static_cast<uint16_t>(32u << (payload >> 4 & 7));
      operation.predicated = bit(2);
      operation.gather_scatter = bit(7);
      break;
    case SpeMemoryKind::kControlStack:
      operation.common_stack_operation = bit(2);
      break;
    default:
      break;
  }
  return operation;
}

}  // namespace memagent::decode
