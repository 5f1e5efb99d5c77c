// How often captured stacks were equal to an oracle's, and where not: a file that all processes of
// one run map and add to, so that none needs to reach its end.
#ifndef MEMAGENT_TESTS_STACKS_COUNTS_H_
#define MEMAGENT_TESTS_STACKS_COUNTS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/capture/unwind_rule.h"

namespace memagent::stacks {

// The numbers and their meaning are known to tests/integration/stacks_test.py as well.
enum class Oracle : uint8_t { kBacktrace = 0, kLibunwind = 1, kNoCache = 2 };
enum class Outcome : uint8_t {
  kEqual = 0,
  kEqualToLimit = 1,     // the capture has its 128 frames and is marked as cut; all are equal
  kEqualToNoTables = 2,  // equal; both end at code that no unwind table covers, the capture is cut
  kBeyondTables = 3,     // equal up to such code; one of them goes on by guessing
  kCaptureCut = 4,       // the capture ends first and says so
  kCaptureEndsEarlier = 5,  // the capture ends first and does not
  kOracleEndsEarlier = 6,
  kDifferentCaller = 7,
  kOracleFailed = 8,  // it does not even contain the function that called malloc
  kTrieFull = 9,      // frames had no room: memory, not unwinding
};

// One row: an oracle, an outcome and, unless equal, the innermost address after which the two
// differ.
struct Entry {
  std::atomic<uint64_t> key;  // 0: free
  std::atomic<uint64_t> count;
  Oracle oracle;
  Outcome outcome;
  capture::RuleKind rule;  // of that address
  char where[109];         // function and module
};
static_assert(sizeof(Entry) == 128);

inline constexpr size_t kEntries = 2048;

// Maps the file, which exists and is large enough. False: it can't be.
bool OpenCounts(const char* path);

// Adds one. `last_common` is the return address of the last frame in which both agree; 0: none.
// Calling thread: any; takes the loader's lock when a row is new.
void Count(Oracle oracle, Outcome outcome, uintptr_t last_common);

}  // namespace memagent::stacks

#endif  // MEMAGENT_TESTS_STACKS_COUNTS_H_
