// One x86-64 instruction reduced to what address resolution needs: its memory access, which
// registers it overwrites, where control goes, and, for the few simple operations, what it
// computes.
//
// Plain data made once by X86Decoder and kept in a cache. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_DECODE_X86_INSTRUCTION_H_
#define MEMAGENT_AGENT_DECODE_X86_INSTRUCTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "agent/os/zydis_library.h"

namespace memagent::decode {

// A general purpose register by its hardware number: rax rcx rdx rbx rsp rbp rsi rdi r8..r15.
using Gpr = uint8_t;
inline constexpr Gpr kRax = 0, kRcx = 1, kRsp = 4, kRbp = 5, kRsi = 6, kRdi = 7;
inline constexpr Gpr kNoGpr = 0xff;
inline constexpr size_t kGprCount = 16;
inline constexpr size_t kMaxInstructionBytes = 15;

// Where control goes.
enum class Flow : uint8_t {
  kNext,          // to the following instruction only
  kJump,          // to `target`
  kBranch,        // to `target` or the following instruction
  kCall,          // to a callee, which comes back after the call
  kSystemCall,    // into the kernel, which comes back with registers of its own
  kIndirectJump,  // to a place the instruction does not name
  kReturn,
  kStop,  // does not come back (hlt, ud2, int3)
};

// What is computed into `destination`, for instructions whose operands are registers and
// immediates only. Everything else is kOther: the registers in `written` become unknown.
enum class Op : uint8_t {
  kOther,
  kMove,  // destination = source
  kZeroExtend,
  kSignExtend,
  kLea,
  kAdd,
  kSub,
  kAnd,
  kOr,
  kXor,
  kInc,
  kDec,
  kNeg,
  kNot,
  kShl,
  kShr,
  kSar,
  kCompare,  // flags of destination - source; nothing is written
  kTest,     // flags of destination & source; nothing is written
};

enum class Segment : uint8_t { kNone, kFs, kGs };

// Condition codes are the hardware's low nibble of Jcc (0 = O .. 15 = G).
inline constexpr uint8_t kUndecidable = 16;  // jrcxz, loop, xbegin
inline constexpr uint8_t kAlways = 17;       // jmp

// An address expression: segment + base + index * scale + displacement, cut to `address_bytes`.
struct AddressExpression {
  int64_t displacement = 0;  // of a rip-relative operand: the absolute address
  Gpr base = kNoGpr;
  Gpr index = kNoGpr;
  uint8_t scale = 0;
  uint8_t address_bytes = 8;
  Segment segment = Segment::kNone;
  bool opaque = false;  // a part is in no general register: vector index, bit offset, al of xlat
  // The expression is over the stack pointer after the instruction (push, pop, leave): it can
  // be computed although the instruction moved that register.
  bool after = false;
};

struct Instruction {
  uint64_t pc = 0;
  uint64_t target = 0;        // of kJump, kBranch and direct kCall
  int64_t immediate = 0;      // when source is kNoGpr
  AddressExpression address;  // the access; of kLea: what it computes
  uint16_t written = 0;       // bit mask over Gpr
  int16_t stack_delta = 0;    // rsp after - rsp before, for push, pop; 0 when unknown or none
  uint8_t length = 0;
  uint8_t size_bytes = 0;  // of the access; 255 for more than 254
  Flow flow = Flow::kNext;
  uint8_t condition = kAlways;
  Op op = Op::kOther;
  Gpr destination = kNoGpr;
  Gpr source = kNoGpr;
  uint8_t width_bytes = 0;         // of the destination
  uint8_t source_width_bytes = 0;  // of kZeroExtend, kSignExtend
  bool accesses_memory = false;
  bool is_load = false;
  bool is_store = false;
  bool is_string = false;
  bool is_repeated = false;  // rep, repe, repne before a string instruction
  bool is_nop = false;
  bool writes_flags = false;
  bool is_compare = false;  // cmp or test, also with a memory operand: may fuse with a jcc

  uint64_t end() const { return pc + length; }
  bool Writes(Gpr gpr) const { return gpr != kNoGpr && ((written >> gpr) & 1) != 0; }
  bool FallsThrough() const {
    return flow == Flow::kNext || flow == Flow::kBranch || flow == Flow::kCall ||
           flow == Flow::kSystemCall;
  }
};

// The part of an instruction that walking through a function needs.
struct InstructionOutline {
  uint8_t length = 0;
  Flow flow = Flow::kNext;
  uint64_t target = 0;  // of kJump, kBranch and direct kCall
};

// Stateless after construction.
class X86Decoder {
 public:
  // Usable only when os::LoadZydis has succeeded before; else nothing decodes.
  X86Decoder();
  bool usable() const { return zydis_ != nullptr; }

  // nullopt when `code` does not start with one whole valid instruction. `pc` is its address.
  std::optional<Instruction> Decode(uint64_t pc, std::span<const std::byte> code) const;
  std::optional<InstructionOutline> Outline(uint64_t pc, std::span<const std::byte> code) const;

 private:
  const os::ZydisFunctions* zydis_;
  ZydisDecoder decoder_ = {};
  // Leaves out what outlines do not need (operands, flags, attributes): 3 to 4 times as fast.
  ZydisDecoder outline_decoder_ = {};
};

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_X86_INSTRUCTION_H_
