// Decoded instructions by address, and a small table type for things found out once per address.
// Both are bounded: a newer entry replaces an older one in its slot.
//
// An entry stays valid until the code changes: the owner calls Flush when a module is unloaded or
// executable memory is unmapped. Code made at run time has no unwind table the resolver would find,
// so it never gets here. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_DECODE_X86_CODE_CACHE_H_
#define MEMAGENT_AGENT_DECODE_X86_CODE_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "agent/base/arena.h"
#include "agent/decode/code_reader.h"
#include "agent/decode/x86_instruction.h"

namespace memagent::decode {

// A direct-mapped table of T, keyed by a non-zero address. Pages are touched when used.
template <typename T, size_t kSlots>
class AddressTable {
 public:
  struct Slot {
    uint64_t key;
    T value;
  };

  AddressTable() : slots_(Map()) {}
  ~AddressTable() { Unmap(); }
  AddressTable(const AddressTable&) = delete;
  AddressTable& operator=(const AddressTable&) = delete;

  // The place of `key`, which may hold another key's value. Valid until the next Flush.
  Slot& SlotOf(uint64_t key) {
    if (slots_ == nullptr) return fallback_;  // out of memory: a cache of one
    // Fibonacci hashing: neighbouring instructions and equal page offsets both spread.
    return slots_[(key * 0x9e3779b97f4a7c15) >> kShift];
  }
  void Flush() {
    Unmap();
    slots_ = Map();
    fallback_.key = 0;
  }

 private:
  static_assert((kSlots & (kSlots - 1)) == 0);
  static constexpr int kShift = 64 - __builtin_ctzll(kSlots);
  static Slot* Map() { return static_cast<Slot*>(base::MapPages(kSlots * sizeof(Slot), base::MemoryUse::kDrain)); }
  void Unmap() {
    if (slots_ != nullptr) base::UnmapPages(slots_, kSlots * sizeof(Slot), base::MemoryUse::kDrain);
  }

  Slot* slots_;
  Slot fallback_ = {};
};

class InstructionCache {
 public:
  InstructionCache(CodeReader& code, const X86Decoder& decoder) : code_(code), decoder_(decoder) {}

  // The instruction at `pc`, or nullptr when its bytes are unreadable or invalid. Valid until the
  // next call.
  const Instruction* At(uint64_t pc) {
    auto& slot = table_.SlotOf(pc);
    return slot.key == pc ? &slot.value : Fill(pc);
  }
  void Flush() {
    table_.Flush();
    block_bytes_ = 0;
  }

 private:
  [[gnu::noinline, gnu::cold]] const Instruction* Fill(uint64_t pc) {
    const auto decoded = decoder_.Decode(pc, BytesAt(pc));
    if (!decoded) return nullptr;
    auto& slot = table_.SlotOf(pc);
    slot.key = pc;
    slot.value = *decoded;
    return &slot.value;
  }

  // The bytes from `pc` on. A new IP needs several neighbouring instructions, mostly before it, and
  // a read costs as much as six decodes: so a whole neighbourhood is read and kept.
  std::span<const std::byte> BytesAt(uint64_t pc) {
    if (!BlockCovers(pc)) {
      block_start_ = pc - kBytesBefore;
      block_bytes_ = code_.Read(block_start_, block_);
      if (!BlockCovers(pc)) {  // the neighbourhood or the module ends here
        block_start_ = pc;
        block_bytes_ = code_.Read(pc, std::span(block_).first(kMaxInstructionBytes));
      }
    }
    return std::span<const std::byte>(block_).subspan(pc - block_start_,
                                                      block_bytes_ - (pc - block_start_));
  }
  bool BlockCovers(uint64_t pc) const {
    const uint64_t offset = pc - block_start_;
    return offset < block_bytes_ && block_bytes_ - offset >= kMaxInstructionBytes;
  }

  static constexpr uint64_t kBytesBefore = 128;
  std::array<std::byte, 256> block_ = {};
  uint64_t block_start_ = 0;
  size_t block_bytes_ = 0;
  CodeReader& code_;
  const X86Decoder& decoder_;
  AddressTable<Instruction, 4096> table_;  // at most 288 KiB
};

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_X86_CODE_CACHE_H_
