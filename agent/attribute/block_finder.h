// Which heap block was at an address at a moment in the past.
//
// The shadow map answers for blocks that are live or died without being overwritten; blocks that
// were overwritten or died young are in their threads' history rings. A moment is only known to
// within the clock error: where the answer differs inside that window it is "ambiguous", never a
// guess.
//
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_ATTRIBUTE_BLOCK_FINDER_H_
#define MEMAGENT_AGENT_ATTRIBUTE_BLOCK_FINDER_H_

#include <array>
#include <cstdint>

#include "agent/base/containers.h"
#include "agent/ledger/shadow_map.h"

namespace memagent::attribute {

enum class HeapVerdict : uint8_t {
  kBlock,        // this block held the address
  kAmbiguous,    // two answers within the clock error
  kOverwritten,  // none is known, but history of that time was lost
  kNothing,      // no block held it
};

struct HeapAnswer {
  HeapVerdict verdict = HeapVerdict::kNothing;
  ledger::Block block;
};

// A set of pages that may say yes by accident (1 in 65,536 for each page in it), never no.
class PageFilter {
 public:
  void Add(uint64_t address) { Word(address) |= Bit(address); }
  bool MayHold(uint64_t address) const { return (words_[Hash(address) / 64] & Bit(address)) != 0; }
  void Clear() { words_ = {}; }

 private:
  // Fibonacci hashing of the page number to 16 bits.
  static uint64_t Hash(uint64_t address) { return (address >> 12) * 0x9e3779b97f4a7c15ull >> 48; }
  static uint64_t Bit(uint64_t address) { return uint64_t{1} << (Hash(address) % 64); }
  uint64_t& Word(uint64_t address) { return words_[Hash(address) / 64]; }

  std::array<uint64_t, 1024> words_ = {};
};

class BlockFinder {
 public:
  // History kept at most, 32 MiB; more is a loss like a full ring.
  static constexpr size_t kMaxHistory = size_t{1} << 20;
  // Misses that may gather again between two ForgetBefore. Under a storm of frees each would find
  // news, and the work of a tick would have no bound.
  static constexpr int kGathersForMisses = 4;

  // Takes everything out of the threads' history rings. Called after the sample rings were read and
  // again on the first misses, so that a block freed meanwhile is not overlooked.
  void GatherHistory();

  // Drops history of blocks that died before `settled`: no sample that old is pending.
  void ForgetBefore(ledger::EventTime settled);

  // `error` is the clock error in units of EventTime.
  HeapAnswer Find(uint64_t address, ledger::EventTime moment, uint32_t error);

  // A gone block of at least kLargeBlock bytes that ForgetBefore is about to drop or Gather just
  // saw: its pages went back to the kernel. Calls visit(start, size) once for each.
  template <typename Visit>
  void TakeLargeFrees(Visit visit) {
    for (const ledger::DeadBlock& block : large_frees_) visit(block.start, block.size);
    large_frees_.clear();
  }

 private:
  HeapAnswer FindAt(uint64_t address, ledger::EventTime moment, ledger::EventTime now);
  void NoteLoss(ledger::EventTime when);
  bool FindInHistory(uint64_t address, ledger::EventTime moment, ledger::EventTime now,
                     ledger::Block& block);

  // What one GatherHistory added: blocks that died at or before `gathered`.
  struct Segment {
    ledger::EventTime gathered = 0;
    size_t count = 0;
  };

  void UpdateFilter();

  // Small blocks, in segments: [begin_, size). Appending and forgetting cost next to nothing for
  // each block, because a program may free ten million of them a second and few are asked for.
  base::Vector<ledger::DeadBlock> history_;
  size_t begin_ = 0;
  base::Vector<Segment> segments_;
  // Pages that history_[begin_, filtered_) touches, brought up to date when a miss asks; 0: build
  // anew.
  PageFilter pages_;
  size_t filtered_ = 0;
  int gathers_left_ = kGathersForMisses;
  base::Vector<ledger::DeadBlock> wide_history_;  // blocks of more pages than the filter takes
  base::Vector<ledger::DeadBlock> large_frees_;
  bool history_lost_ = false;
  ledger::EventTime history_lost_at_ = 0;  // the latest loss
};

}  // namespace memagent::attribute

#endif  // MEMAGENT_AGENT_ATTRIBUTE_BLOCK_FINDER_H_
