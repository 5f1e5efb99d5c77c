// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// Which memory an instruction accesses. The kernel's decoder gives lengths, prefixes and the
// address of a ModRM operand; whether that is read or written is told here by opcode (Intel SDM
// volume 2, opcode maps; AMD APM volume 3, appendix A), for what compilers emit. An instruction
// that is not listed counts as a load.
#include <linux/uaccess.h>

#include <asm/insn.h>
#include <asm/insn-eval.h>
#include <asm/ptrace.h>

#include "simpmu.h"

struct opcode {
  bool two_bytes;  // 0x0f, then `byte`; with a VEX prefix the 0x0f is implied
  u8 byte;
};

static bool has_vex(const struct insn *insn) { return insn->vex_prefix.nbytes > 0; }

static struct opcode opcode_of(struct insn *insn) {
  struct opcode code = {.two_bytes = insn->opcode.bytes[0] == 0x0f};

  code.byte = insn->opcode.bytes[code.two_bytes];
  if (has_vex(insn)) {
    code.two_bytes = true;
    // Maps 2 and 3 (0x0f 0x38, 0x0f 0x3a) hold next to no stores: a load.
    code.byte = insn_vex_m_bits(insn) == 1 ? insn->opcode.bytes[0] : 0x38;
  }
  return code;
}

static bool is_between(u8 byte, u8 first, u8 last) { return byte >= first && byte <= last; }

// Instructions that put the flags, the trap flag among them, where others see them, or that leave.
static bool must_not_step(struct opcode code) {
  if (code.two_bytes)  // syscall, sysret, sysenter, sysexit
    return code.byte == 0x05 || code.byte == 0x07 || code.byte == 0x34 || code.byte == 0x35;
  return code.byte == 0x9c || code.byte == 0x9d ||                // pushf, popf
         is_between(code.byte, 0xcc, 0xcf) || code.byte == 0xf1;  // int3, int, into, iret, int1
}

static void set_access(struct sim_op *op, unsigned long addr, bool load, bool store) {
  op->memory = true;
  op->addr = addr;
  op->load = load;
  op->store = store;
}

// Operands that no ModRM byte names: the stack and the string instructions. True when it is such
// one.
static bool implicit_operand(struct opcode code, const struct pt_regs *regs, struct sim_op *op) {
  if (code.two_bytes) return false;
  switch (code.byte) {
    case 0x50 ... 0x57:
    case 0x68:
    case 0x6a:
    case 0xe8:  // push, call
      op->size = 8;
      set_access(op, regs->sp - 8, false, true);
      return true;
    case 0x58 ... 0x5f:
    case 0xc2:
    case 0xc3:  // pop, ret
      op->size = 8;
      set_access(op, regs->sp, true, false);
      return true;
    case 0xc9:  // leave
      op->size = 8;
      set_access(op, regs->bp, true, false);
      return true;
    case 0xa4 ... 0xa7:
    case 0xac:
    case 0xad:  // movs, cmps, lods: what they read
      set_access(op, regs->si, true, false);
      return true;
    case 0xaa:
    case 0xab:  // stos
      set_access(op, regs->di, false, true);
      return true;
    case 0xae:
    case 0xaf:  // scas
      set_access(op, regs->di, true, false);
      return true;
  }
  return false;
}

// A ModRM operand that is an address only: lea, nop, prefetch, fences, cache and system
// instructions.
static bool accesses_nothing(struct opcode code) {
  if (!code.two_bytes) return code.byte == 0x8d;
  return code.byte <= 0x01 || code.byte == 0x0d || is_between(code.byte, 0x18, 0x1f) ||
         code.byte == 0xae;
}

static bool only_stores(struct opcode code) {
  static const u8 plain[] = {0x88, 0x89, 0xc6, 0xc7};
  // movups, movlps, movhps, movaps, movntps, setcc (0x90 to 0x9f, below), movnti, movd/q, movdqa,
  // movntdq
  static const u8 extended[] = {0x11, 0x13, 0x17, 0x29, 0x2b, 0x7e, 0x7f, 0xc3, 0xd6, 0xe7};
  const u8 *list = code.two_bytes ? extended : plain;
  size_t i, count = code.two_bytes ? ARRAY_SIZE(extended) : ARRAY_SIZE(plain);

  if (code.two_bytes && is_between(code.byte, 0x90, 0x9f)) return true;
  for (i = 0; i < count; i++)
    if (list[i] == code.byte) return true;
  return false;
}

// Read-modify-write. `kind` is the ModRM byte's middle field, which selects among an opcode's
// group.
static bool loads_and_stores(struct opcode code, u8 kind) {
  if (code.two_bytes)  // cmpxchg, xadd, cmpxchg8b/16b
    return code.byte == 0xb0 || code.byte == 0xb1 || code.byte == 0xc0 || code.byte == 0xc1 ||
           code.byte == 0xc7;
  if (code.byte < 0x38) return (code.byte & 7) <= 1;        // add, or, ... xor to memory
  if (is_between(code.byte, 0x80, 0x83)) return kind != 7;  // the same with an immediate; 7: cmp
  if (is_between(code.byte, 0xd0, 0xd3) || is_between(code.byte, 0xc0, 0xc1))
    return true;                                                         // shifts
  if (is_between(code.byte, 0xf6, 0xf7)) return kind == 2 || kind == 3;  // not, neg
  if (is_between(code.byte, 0xfe, 0xff)) return kind <= 1;               // inc, dec
  return is_between(code.byte, 0x86, 0x87);                              // xchg
}

// Bytes; scalar floating point counts as a whole register of its own size.
static unsigned int operand_size(struct insn *insn, struct opcode code) {
  if (has_vex(insn))  // VEX.L is bit 2 of its last byte
    return insn->vex_prefix.bytes[insn->vex_prefix.nbytes - 1] & 4 ? 32 : 16;
  if (!code.two_bytes) {
    bool has_byte_form = code.byte < 0x40 || is_between(code.byte, 0x80, 0x8b) ||
                         is_between(code.byte, 0xa4, 0xaf) || code.byte >= 0xc0;

    return has_byte_form && !(code.byte & 1) && code.byte != 0x82 ? 1 : insn->opnd_bytes;
  }
  if (code.byte == 0xb6 || code.byte == 0xbe) return 1;  // movzx, movsx
  if (code.byte == 0xb7 || code.byte == 0xbf) return 2;
  if (is_between(code.byte, 0x10, 0x17) || is_between(code.byte, 0x28, 0x2f) ||
      is_between(code.byte, 0x50, 0x7f) || code.byte >= 0xd0)
    return insn->prefixes.nbytes && insn->prefixes.bytes[0] == 0xf3   ? 4
           : insn->prefixes.nbytes && insn->prefixes.bytes[0] == 0xf2 ? 8
                                                                      : 16;
  return insn->opnd_bytes;
}

static bool read_instruction(struct pt_regs *regs, struct insn *insn) {
  unsigned char bytes[MAX_INSN_SIZE];
  int count;

  pagefault_disable();
  count = sim_kernel.insn_fetch_from_user_inatomic(regs, bytes);
  pagefault_enable();
  return count > 0 && sim_kernel.insn_decode(insn, bytes, count, INSN_MODE_64) == 0;
}

static bool has_lock_prefix(const struct insn *insn) {
  int i;

  for (i = 0; i < 4; i++)
    if (insn->prefixes.bytes[i] == 0xf0) return true;
  return false;
}

bool sim_decode(struct pt_regs *regs, struct sim_op *op) {
  struct opcode code;
  struct insn insn;
  unsigned long addr;

  memset(op, 0, sizeof(*op));
  op->ip = regs->ip;
  if (!read_instruction(regs, &insn)) return false;
  code = opcode_of(&insn);
  if (must_not_step(code)) return false;
  op->size = operand_size(&insn, code);
  if (implicit_operand(code, regs, op)) return true;
  if (!insn.modrm.nbytes || X86_MODRM_MOD(insn.modrm.value) == 3 || accesses_nothing(code))
    return true;
  addr = (unsigned long)sim_kernel.insn_get_addr_ref(&insn, regs);
  if (addr == -1UL) return false;
  op->locked = has_lock_prefix(&insn) || (!code.two_bytes && is_between(code.byte, 0x86, 0x87));
  if (only_stores(code))
    set_access(op, addr, false, true);
  else
    set_access(op, addr, true, loads_and_stores(code, X86_MODRM_REG(insn.modrm.value)));
  return true;
}
