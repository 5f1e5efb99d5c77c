// Tells, on CPUs where it happens, which clock interrupts came on an access rather than after it.
//
// The rule of x86_predecessor.h holds where an instruction is waited for until it retires. Intel's
// CPUs let an interrupt cut an access short whose address is still being translated: the sampled IP
// is then the access itself, which begins anew afterwards. Measured on a guest with a CPU of the
// generation of Sapphire Rapids: loads and stores to 32 MiB in pages of 4 KiB, 13 to 22 % of the
// ticks on the access, the rest after it; the same in huge pages 0.3 %, in 1 MiB 0.4 %
// (docs/DECISIONS.md, D31). Whatever accesses memory before it would be blamed instead.
//
// One sample cannot tell; the code's samples together can. Ticks at an access are either what is
// waited for before it, or a share of what it is waited for itself, which shows after it: where
// there are few at it for those after it, they are its own. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_DECODE_CUT_ACCESSES_H_
#define MEMAGENT_AGENT_DECODE_CUT_ACCESSES_H_

#include <cstdint>

#include "agent/decode/x86_code_cache.h"
#include "agent/decode/x86_instruction.h"

namespace memagent::decode {

class CutAccesses {
 public:
  // Counts the tick at `at_ip`; true: it is waited for itself. `after_quick`: what ran before it is
  // no access and takes a cycle, so that hardly a tick here can be its.
  bool Note(const Instruction& at_ip, bool after_quick) {
    const uint32_t here = ++TicksAt(at_ip.pc);
    if (!CanBeCut(at_ip)) return false;
    const uint32_t after = TicksAt(at_ip.end());
    return after >= kFewestAfter && here <= after / (after_quick ? 1 : kTimesMoreAfter);
  }
  void Flush() { ticks_.Flush(); }

 private:
  // At most 22 ticks on it for 78 after it were seen, 1 for 3.5, but once about 1 for 2 (after
  // virtual machines had run beside it): behind a quick instruction, which takes few away, as many.
  static constexpr uint32_t kTimesMoreAfter = 3;
  // With 1 tick at the access, before it can be told from chance.
  static constexpr uint32_t kFewestAfter = 8;

  // What goes on behind it, with an address that its registers tell beforehand.
  static bool CanBeCut(const Instruction& instruction) {
    return instruction.accesses_memory && instruction.flow == Flow::kNext &&
           !instruction.is_repeated && !instruction.address.opaque && !instruction.address.after;
  }

  uint32_t& TicksAt(uint64_t pc) {
    auto& slot = ticks_.SlotOf(pc);
    if (slot.key != pc) slot = {pc, 0};
    return slot.value;
  }

  AddressTable<uint32_t, 8192> ticks_;  // at most 128 KiB
};

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_CUT_ACCESSES_H_
