// Applies placement rules (base/placement_rule.h) to the blocks and mappings of the sites that they
// mean, before the program touches them: by memory policy, without a rebuild of the program.
//
//   new large block ─► its site's rule? ─► none: done (one byte read)
//                           └─► not decided: compare the site's call stack with all rules, once
//                           └─► a rule: mbind of the block's whole pages; at its free back to
//                           default
//
// A program's own mbind, and advice about huge pages, on memory that a rule means would undo the
// rule: the call is made as asked, then the rule is set again, and that is counted.
//
// Only heap blocks of at least ledger::kLargeBlock bytes: the recorder's general way, which small
// blocks don't take. Their cost stays what it is. Mappings of any size.
//
// The program's behaviour stays: policies prefer nodes and never refuse memory (a strict one would
// have the kernel kill a program whose node is full), errno is kept, and what the kernel refuses
// is counted. Calling thread: host threads in a hook, unless said otherwise.
#ifndef MEMAGENT_AGENT_CAPTURE_PLACEMENT_H_
#define MEMAGENT_AGENT_CAPTURE_PLACEMENT_H_

#include <atomic>
#include <cstdint>
#include <span>

#include "agent/base/placement_rule.h"
#include "agent/base/types.h"
#include "agent/capture/stack_trie.h"

namespace memagent::capture {

inline constexpr size_t kMaxPlacementRules = 64;

// From now on. The rules, and what they borrow from, are never freed. Once, before the program has
// a second thread.
void SetPlacementRules(std::span<const base::PlacementRule> rules);
std::span<const base::PlacementRule> PlacementRules();

extern constinit std::atomic<bool> placing;
inline bool IsPlacing() { return placing.load(std::memory_order_acquire); }

// A heap block of kLargeBlock bytes or more that is recorded; one that is about to be freed; one
// whose free was taken back (a realloc that failed); a mapping that the program made.
void PlaceBlock(SiteId site, uint64_t start, uint64_t size);
void UnplaceBlock(SiteId site, uint64_t start, uint64_t size);
void PlaceBlockAgain(SiteId site, uint64_t start, uint64_t size);
void PlaceMapping(SiteId site, uint64_t start, uint64_t size);
void UnplaceMapping(uint64_t start, uint64_t size);

// The program has placed memory by itself: rules of that kind that mean it are set again.
enum class OwnPlacement : uint8_t { kPolicy, kHugePages };
void Overrule(OwnPlacement kind, uint64_t start, uint64_t size);

// Whether it is time to say how many mappings there are, and of how many (mapping_budget.h).
// Calling thread: the drain thread.
bool PlacementsWantMappingCount();
void TellMappingCount(uint64_t mappings, uint64_t most);

// Index of the first rule that means a call stack; -1: none. `place_of(address)` is the CodePlace
// of a call. Calling thread: any.
template <typename PlaceOf>
int RuleOfStack(std::span<const base::PlacementRule> rules, RegionKind kind, StackId stack,
                PlaceOf place_of);

// What was decided for a site when it had its first large block or mapping: a rule's index, or one
// of these. Calling thread: any, the drain thread, too.
inline constexpr int kNoPlacement = -1;
inline constexpr int kPlacementUndecided = -2;
int PlacementOf(SiteId site);

// What a rule has done in this process.
struct PlacementCounts {
  uint64_t blocks = 0;  // placed, mappings too
  uint64_t bytes = 0;
  uint64_t moved_blocks = 0;       // of them: had pages already, which the kernel was to move
  uint64_t heap_blocks_tried = 0;  // large ones
  uint64_t over_limit_blocks = 0;  // PlacedBlocks was full, or too many mappings
  uint64_t freed_blocks = 0;       // whose placement was taken back
  uint64_t uncut_mappings = 0;     // not placed: a rule would have cut them
  uint64_t overruled_calls = 0;    // of the program, see Overrule
  uint64_t refused_calls = 0;      // by the kernel
  int32_t refused_errno = 0;       // of the first
};
PlacementCounts ReadPlacementCounts(size_t rule);

// In the child of fork: what its parent counted is not its own.
void ForgetPlacementCounts();

// A function that is anywhere in the stack of a heap block asked for it. What maps memory below it
// may be its allocator, for others as well: there it must make the call itself.
template <typename PlaceOf>
int RuleOfStack(std::span<const base::PlacementRule> rules, RegionKind kind, StackId stack,
                PlaceOf place_of) {
  for (size_t i = 0; i < rules.size(); ++i) {
    const bool only_caller =
        rules[i].match == base::PlacementMatch::kAny && kind == RegionKind::kMmap;
    StackId at = stack;
    const auto next = [&](base::CodePlace& place) {
      StackNode node;
      if ((only_caller && at != stack) || !ReadStackNode(at, node)) return false;
      at = node.parent;
      place = place_of(node.pc - 1);
      return true;
    };
    if (base::RuleMatches(rules[i], next)) return static_cast<int>(i);
  }
  return kNoPlacement;
}

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_PLACEMENT_H_
