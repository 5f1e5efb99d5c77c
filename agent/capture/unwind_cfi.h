// Runs the call frame instructions of one function up to an address and condenses the result
// into an UnwindRule (DWARF 5 section 6.4.2). Pure: bytes in, rule out. Calling thread: any.
//
// Only three columns matter for walking a stack: the CFA, rbp and the return address.
#ifndef MEMAGENT_AGENT_CAPTURE_UNWIND_CFI_H_
#define MEMAGENT_AGENT_CAPTURE_UNWIND_CFI_H_

#include <cstdint>

#include "agent/capture/unwind_eh_frame.h"
#include "agent/capture/unwind_rule.h"

namespace memagent::capture {

// The rule at `ip`, an address inside the instruction that is executing. kNoInfo when `ip` is not
// in the function, kUncovered when the instructions are malformed or say what a rule cannot.
UnwindRule RuleFromDescription(const FrameDescription& description, uintptr_t ip);

// The whole way: look up, parse, run. `frames` is the segment that holds .eh_frame.
UnwindRule CompileRule(const EhFrameHeader& header, MemoryView frames, uintptr_t ip);

// Whether a function starts at exactly `pc`. A return address of that kind, with nothing but
// padding before it, was not pushed by a call: makecontext puts __start_context there as the
// outermost return address of a coroutine.
bool StartsFunction(const EhFrameHeader& header, MemoryView frames, uintptr_t pc);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_UNWIND_CFI_H_
