// What hooks record: allocations, frees and changes of the address space, into the ledger.
//
// Calling thread: any host thread, inside a hook. Nothing here blocks, allocates from the host,
// touches errno or fails: what can't be recorded is counted. Order rule (design, convention 3): a
// free is recorded before the real free, an allocation after the real malloc.
#ifndef MEMAGENT_AGENT_CAPTURE_RECORDER_H_
#define MEMAGENT_AGENT_CAPTURE_RECORDER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/capture/frame_start.h"
#include "agent/ledger/thread_record.h"

namespace memagent::capture {

// Recording is on from the first hook until the session decides otherwise (MEMAGENT=off, secure
// execution): what ran before main must not be missing.
void SetRecording(bool on);
bool Recording();

// From now on heap blocks below `mean` bytes are picked by chance (ledger/allocation_sampler.h).
// `mean` is a power of two up to 2^kMaxMeanLog2; 1: every block is tracked. Calling thread: any.
void SetSampleBytes(uint32_t mean);

// How many blocks of the calling thread were left out by chance.
uint64_t LeftOutCount();

void RecordAllocation(void* block, size_t size, HookFrame hook);

// The block that starts at `block` is about to be freed. False when it is not a known live block.
bool RecordFree(void* block);

// realloc in three steps: take the old block out, then either record the new one with
// RecordAllocation or, when the real realloc failed, put the old one back.
struct ReallocUndo {
  bool erased = false;
  ledger::Block block;
};
ReallocUndo RecordReallocStart(void* block);
void RecordReallocFailed(const ReallocUndo& undo);

// A mapping made, removed or moved through libc; `tsc` was read before an unmap, after a map.
void RecordMap(ledger::RegionEvent::Kind kind, RegionKind region, void* start, size_t size,
               uint64_t tsc, const FrameStart& caller);
void RecordUnmap(ledger::RegionEvent::Kind kind, void* start, size_t size, uint64_t tsc);
void RecordRemap(void* old_start, size_t old_size, void* start, size_t size, uint64_t tsc,
                 const FrameStart& caller);

// The calling thread's record, made on first use; nullptr when that is impossible.
ledger::ThreadRecord* CurrentThread();

// How often the program unloaded a library: code addresses from before mean nothing afterwards.
uint32_t UnloadCount();
void CountUnload();

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_RECORDER_H_
