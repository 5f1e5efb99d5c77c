// The program's placement calls as the profile lists them, and what follows for the memory policies
// that its threads were under.
//
// A thread has the policy that it set last; else the one that the thread that made it had then;
// else, the first thread, the one that was in force when the agent started. What can't be known so
// is not told. Pure. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_PLACEMENT_BOOK_H_
#define MEMAGENT_AGENT_RUNTIME_PLACEMENT_BOOK_H_

#include <cstdint>
#include <optional>

#include "agent/base/containers.h"
#include "agent/ledger/placement_calls.h"
#include "agent/os/memory_policy.h"

namespace memagent::runtime {

// Equal calls of one thread from one place.
struct PlacementRow {
  ledger::PlacementCall first;
  Nanos time = 0;                  // of the first
  SiteId site = SiteId::kUnknown;  // likewise
  int32_t target_tid = 0;          // 0: the caller; -1: not known
  uint64_t size_bytes = 0;
  uint64_t calls = 0;
  uint64_t refused = 0;
  int refused_errno = 0;  // of the first refused
};

// Who a thread is and where it came from.
struct ThreadOrigin {
  Tid tid = 0;
  bool main = false;
  uint32_t creator = 0;  // serial; 0: not known
  Nanos created = 0;     // when its creator set out to make it
};

class PlacementBook {
 public:
  static constexpr size_t kMaxRows = 256;
  // What is remembered of policies set and of mappings placed.
  static constexpr size_t kMaxChanges = 4096;
  static constexpr size_t kMaxPlaced = 256;

  void SetStartPolicy(const os::MemoryPolicy& policy) { start_policy_ = policy; }

  // Calls come in any order of time between threads, in order of each. `target_tid` as in
  // PlacementRow.
  void Add(const ledger::PlacementCall& call, Nanos time, SiteId site, int32_t target_tid);
  // How far times of calls and of page faults may be off each other.
  void SetClockError(Nanos error) { clock_error_ = error; }
  // Calls that are known to be missing by `now`.
  void SetLost(const ledger::LostCalls& lost, Nanos now);

  const base::Vector<PlacementRow>& rows() const { return rows_; }
  // Calls beyond the rows that are kept, and lost ones.
  uint64_t left_out() const { return beyond_ + lost_.all; }

  // The policy of the thread `serial` at `time`, 0: of whichever. `origin_of(serial)` is an
  // std::optional<ThreadOrigin>.
  template <typename OriginOf>
  std::optional<os::MemoryPolicy> PolicyOf(uint32_t serial, Nanos time, OriginOf origin_of) const {
    constexpr int kMaxGenerations = 64;
    if (lost_.of_threads != 0 || forgot_changes_) return std::nullopt;
    if (changes_.empty()) return start_policy_;
    for (int i = 0; i < kMaxGenerations && serial != 0; ++i) {
      const std::optional<ThreadOrigin> origin = origin_of(serial);
      if (!origin) break;
      const bool fault = i == 0;  // later times are the creators' own
      if (fault && SetAround(origin->tid, time)) break;
      if (const os::MemoryPolicy* set = LastSet(origin->tid, time)) return *set;
      if (origin->main) return start_policy_;
      serial = origin->creator;
      time = origin->created;
    }
    return std::nullopt;
  }

  // Whether a mapping around `address` may have been given another policy after `since`.
  bool PlacedSince(uint64_t address, Nanos since) const;

 private:
  struct Change {
    Tid tid = 0;
    Nanos time = 0;
    os::MemoryPolicy policy;
  };
  struct Placed {
    uint64_t start = 0;
    uint64_t end = 0;
    Nanos time = 0;
  };

  void NotePolicy(const ledger::PlacementCall& call, Nanos time);
  const os::MemoryPolicy* LastSet(Tid tid, Nanos time) const;
  // Whether the thread set a policy so near to `time` that it may have been before or after.
  bool SetAround(Tid tid, Nanos time) const;
  PlacementRow* RowOf(const ledger::PlacementCall& call, int32_t target_tid);

  std::optional<os::MemoryPolicy> start_policy_;
  base::Vector<PlacementRow> rows_;
  uint64_t beyond_ = 0;
  ledger::LostCalls lost_;
  Nanos clock_error_ = 0;
  base::Vector<Change> changes_;
  bool forgot_changes_ = false;
  base::Vector<Placed> placed_;  // the last kMaxPlaced, a ring
  size_t next_placed_ = 0;
  Nanos forgot_placed_ = 0;  // the newest that was overwritten
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_PLACEMENT_BOOK_H_
