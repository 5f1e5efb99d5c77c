// From a sampled program counter and registers to the memory access the sample stands for, without
// any help from hardware: the software engine's decoding (x86-64).
//
// The access is that of the instruction before IP (x86_predecessor.h says which one that is), but
// for those that the interrupt cut short (cut_accesses.h): these are at IP, kApproximate. Its
// address, by decreasing evidence:
//
//   kExact        its base and index are unmodified by it, so the sampled registers give the
//   address;
//                 or they are recovered by re-running straight-line code (x86_backslice.h). push,
//                 pop, leave and returns are accesses to the stack, computed from rsp.
//   kApproximate  the address of the next instance (x86_emulator.h), or an exact one of an
//                 instruction that another path might have bypassed (a join, or backslice across
//                 code of a function with indirect jumps, whose targets are not known).
//   kPcOnly       the instruction accesses memory and its address is lost: `address` is the base
//                 register when it is intact (gathers, an overwritten index), the displacement of
//                 an address without base (a static array), else 0.
//   kNone         the instruction accesses no memory. lea and nops do not; prefetches are loads.
//
// When the instruction itself cannot be told, `why` says so, with kPcOnly, address 0 and the
// sampled IP: claiming "no access" would hide a loss. Instructions with two accesses report the
// explicit one (push mem, call mem), movs its load. A call pushes, but the next sample point is in
// the callee.
#ifndef MEMAGENT_AGENT_DECODE_ACCESS_RESOLVER_H_
#define MEMAGENT_AGENT_DECODE_ACCESS_RESOLVER_H_

#include <cstdint>

#include "agent/decode/code_reader.h"
#include "agent/decode/cut_accesses.h"
#include "agent/decode/sample.h"
#include "agent/decode/x86_code_cache.h"
#include "agent/decode/x86_function.h"
#include "agent/decode/x86_predecessor.h"

namespace memagent::decode {

class AccessResolver {
 public:
  struct Result {
    Access access;
    Unresolved why = Unresolved::kNone;  // also set when only the evidence was lowered
  };

  // `code` must outlive the resolver. os::LoadZydis must have been called before, else every sample
  // is kNoDecoder. Memory: private heap and own mappings, under 6 MiB, touched as used.
  explicit AccessResolver(CodeReader& code);
  AccessResolver(const AccessResolver&) = delete;
  AccessResolver& operator=(const AccessResolver&) = delete;

  // `fs_base` is the sampled thread's, 0 when unknown. Calling thread: the drain thread only.
  Result Resolve(const RawSample& sample, uint64_t fs_base);

  // Whether interrupts cut accesses short on this CPU (cut_accesses.h); not unless told.
  void SetCutsAccesses(bool cuts) { cuts_accesses_ = cuts; }

  // Forgets all code: to be called when a module is unloaded or executable memory unmapped.
  void Flush();

 private:
  struct State;  // registers of the sample being resolved

  const Predecessors* Find(uint64_t ip);
  Result ResolveChoice(const Predecessors& found, Choice choice, const State& state);
  // The access at the IP, where the interrupt cut it short.
  bool TryCutAccess(const State& state, bool after_quick, Result& out);
  static Access AtIp(const Instruction& access, const State& state);
  Access ResolveAddress(const Instruction& access, bool has_indirect_jump, const State& state);
  bool TryBackslice(const Instruction& access, bool include_earlier, const State& state,
                    Access& out);

  X86Decoder decoder_;
  InstructionCache instructions_;
  FunctionTable functions_;
  AddressTable<Predecessors, 8192> predecessors_;  // at most 1 MiB
  Predecessors uncached_;
  CutAccesses cut_accesses_;
  bool cuts_accesses_ = false;
};

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_ACCESS_RESOLVER_H_
