// The few DWARF expressions that occur in call frame information, recognised by shape.
//
// A full expression machine inside malloc would be a liability: everything else is kOther and
// ends the walk, counted. Pure. Calling thread: any.
#ifndef MEMAGENT_AGENT_CAPTURE_UNWIND_EXPRESSION_H_
#define MEMAGENT_AGENT_CAPTURE_UNWIND_EXPRESSION_H_

#include <cstdint>

#include "agent/capture/unwind_reader.h"

namespace memagent::capture {

enum class ExpressionShape : uint8_t {
  kOther,
  kRegister,  // register + offset
  kDeref,     // *(register + offset): gcc's realigned frames
  kPlt,       // rsp + 8 + (rip % 16 >= offset) * 8: .plt sections of GNU ld and lld
};

struct CfiExpression {
  ExpressionShape shape = ExpressionShape::kOther;
  uint8_t dwarf_register = 0;
  int32_t offset = 0;  // an offset that needs more is kOther: no frame is 2 GiB large
};

constexpr bool FitsInOffset(int64_t offset) { return offset == static_cast<int32_t>(offset); }

CfiExpression RecogniseExpression(MemoryView bytes);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_UNWIND_EXPRESSION_H_
