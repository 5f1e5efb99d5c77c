// Blocks whose slot in the shadow map belongs to a neighbour: allocators with 8- and 16-byte classes
// (jemalloc, tcmalloc, mimalloc) start two or more blocks in one granule of 32 bytes.
//
// An open-addressing table by start address: 2^20 entries of 16 bytes, mapped on first use, so that
// programs on glibc's malloc never pay for it; resident in proportion to the heap it serves. Such
// blocks are at most 62 bytes long, so the second word has the shadow slot's own layout. Lock-free;
// a block is inserted and erased by the threads that own it at the time, never by two at once.
#ifndef MEMAGENT_AGENT_LEDGER_CROWDED_BLOCKS_H_
#define MEMAGENT_AGENT_LEDGER_CROWDED_BLOCKS_H_

#include <atomic>
#include <cstdint>

namespace memagent::ledger {

// Remembers `slot_bits` for the block that starts at `start`; false when the neighbourhood of its
// place is full or memory is refused. Calling thread: any.
bool InsertCrowded(uint64_t start, uint64_t slot_bits);

// Takes the block out and gives its bits; false when it is not here. Calling thread: any.
bool EraseCrowded(uint64_t start, uint64_t& slot_bits);

// Reads without taking out. Calling thread: any.
bool FindCrowded(uint64_t start, uint64_t& slot_bits);

// Whether anything was ever inserted.
extern std::atomic<bool> any_crowded;
inline bool AnyCrowded() { return any_crowded.load(std::memory_order_acquire); }

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_CROWDED_BLOCKS_H_
