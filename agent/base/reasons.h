// Why a sample has no allocation, why it was thrown away, and why an allocation is not tracked.
//
// The snake_case names are what the profile, the JSON report and FORMAT.md use; they are never
// renamed, only added to. Each list is one X-macro so that enum, name and meaning can't drift
// apart. Accounting identity, per thread: seen = attributed + sum(unattributed) + sum(dropped).
#ifndef MEMAGENT_AGENT_BASE_REASONS_H_
#define MEMAGENT_AGENT_BASE_REASONS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace memagent {

// A sample was read and understood, but it is booked on no allocation.
#define MEMAGENT_UNATTRIBUTED_REASONS(X)                                                      \
  X(kNotMemory, "not_memory", "the instruction did not access memory")                        \
  X(kAddressUnknown, "address_unknown",                                                       \
    "the instruction accessed memory, its address could not be recovered")                    \
  X(kUnallocated, "unallocated", "in heap memory that no live block held at that time")       \
  X(kFreedHistoryOverwritten, "freed_history_overwritten",                                    \
    "the block was freed so long ago that its record had to make room")                       \
  X(kAmbiguousTime, "ambiguous_time",                                                         \
    "two blocks held the address within the clock error of the sample's time")                \
  X(kUnknownRegion, "unknown_region", "in a mapping the agent knows nothing about")           \
  X(kKernelAddress, "kernel_address", "the address or the instruction is the kernel's")       \
  X(kCodeUnreadable, "code_unreadable", "the code at the sample's address could not be read") \
  X(kPredecessorAmbiguous, "predecessor_ambiguous",                                           \
    "which instruction ran before the interrupted one can't be told")                         \
  X(kNoDecoder, "no_decoder", "no instruction decoder was available")                         \
  X(kNoDataAddress, "no_data_address", "the engine tells no data addresses, only code")        \
  X(kSiteUntracked, "site_untracked", "in a block whose allocation could not be recorded")    \
  X(kUnpickedBlock, "unpicked_block",                                                         \
    "in heap memory of no tracked block, while sample_bytes= left small blocks out")

// A sample never reached attribution.
#define MEMAGENT_DROP_REASONS(X)                                                                  \
  X(kRingLost, "ring_lost", "the kernel had no room in the thread's ring and counted it as lost") \
  X(kMalformedRecord, "malformed_record", "the record could not be parsed")                       \
  X(kDamagedRecord, "damaged_record", "hardware cut its record, or mixed it with another")        \
  X(kThreadUnknown, "thread_unknown", "its thread was never registered")                          \
  X(kAgentCode, "agent_code", "taken inside memagent itself")                                     \
  X(kLate, "late", "older than the window in which events are put in order")                      \
  X(kShutdown, "shutdown", "still unread when the session had to end")

// An allocation, free or mapping event could not be recorded.
#define MEMAGENT_UNTRACKED_REASONS(X)                                                        \
  X(kBootstrapHeap, "bootstrap_heap", "allocated before the real allocator was known")       \
  X(kReentrant, "reentrant", "made while the thread was already inside memagent")            \
  X(kOutOfMemory, "out_of_memory", "no memory for its record")                               \
  X(kSiteTableFull, "site_table_full", "the table of allocation sites is full")              \
  X(kStackTableFull, "stack_table_full", "the table of call stacks is full")                 \
  X(kSlotCollision, "slot_collision", "two live blocks share one 32-byte slot of the index") \
  X(kForeignFree, "foreign_free", "freed, but never seen allocated")                         \
  X(kMissedFree, "missed_free", "given out again without a free that was seen")              \
  X(kMmapEventLost, "mmap_event_lost", "a mapping event found its queue full")               \
  X(kThreadEnding, "thread_ending", "made while the thread's state was already gone")        \
  X(kNotPicked, "not_picked", "a small block that sample_bytes= left out by chance")         \
  X(kUnpickedFree, "unpicked_free", "freed, and not tracked when it was allocated")

#define MEMAGENT_REASON_ENUMERATOR(name, text, meaning) name,
#define MEMAGENT_REASON_ROW(name, text, meaning) ReasonInfo{text, meaning},

struct ReasonInfo {
  std::string_view name;     // snake_case, in the profile
  std::string_view meaning;  // for people, fits "N samples: ..."
};

enum class UnattributedReason : uint8_t {
  MEMAGENT_UNATTRIBUTED_REASONS(MEMAGENT_REASON_ENUMERATOR) kCount
};
enum class DropReason : uint8_t { MEMAGENT_DROP_REASONS(MEMAGENT_REASON_ENUMERATOR) kCount };
enum class UntrackedReason : uint8_t {
  MEMAGENT_UNTRACKED_REASONS(MEMAGENT_REASON_ENUMERATOR) kCount
};

inline constexpr size_t kUnattributedReasonCount = static_cast<size_t>(UnattributedReason::kCount);
inline constexpr size_t kDropReasonCount = static_cast<size_t>(DropReason::kCount);
inline constexpr size_t kUntrackedReasonCount = static_cast<size_t>(UntrackedReason::kCount);

// By enumerator value.
inline constexpr std::array<ReasonInfo, kUnattributedReasonCount> kUnattributedReasons = {
    MEMAGENT_UNATTRIBUTED_REASONS(MEMAGENT_REASON_ROW)};
inline constexpr std::array<ReasonInfo, kDropReasonCount> kDropReasons = {
    MEMAGENT_DROP_REASONS(MEMAGENT_REASON_ROW)};
inline constexpr std::array<ReasonInfo, kUntrackedReasonCount> kUntrackedReasons = {
    MEMAGENT_UNTRACKED_REASONS(MEMAGENT_REASON_ROW)};

#undef MEMAGENT_REASON_ENUMERATOR
#undef MEMAGENT_REASON_ROW

constexpr const ReasonInfo& Info(UnattributedReason r) {
  return kUnattributedReasons[static_cast<size_t>(r)];
}
constexpr const ReasonInfo& Info(DropReason r) { return kDropReasons[static_cast<size_t>(r)]; }
constexpr const ReasonInfo& Info(UntrackedReason r) {
  return kUntrackedReasons[static_cast<size_t>(r)];
}

}  // namespace memagent

#endif  // MEMAGENT_AGENT_BASE_REASONS_H_
