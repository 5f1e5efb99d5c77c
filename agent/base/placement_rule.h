// Placement rules: where the blocks of an allocation site shall lie. One line of text each, in the
// file that the option place= names; `memagent run --place` writes it. Fields are parted by tabs:
//
//   RULE  MEANING  PLACEMENT  MATCH  FRAME [FRAME ...]
//
//   RULE       as it was asked for, and
//   MEANING    what it selects, in words: both only for reports
//   PLACEMENT  bind:0  bind:0+1  interleave:0+1  block:0+1+2  local  huge  nohuge
//   MATCH      stack: the frames are a whole call stack, innermost first; inner: the innermost
//              frames of one; any: one of the frames is in the call stack
//   FRAME      * for any frame, or MODULE:START-END[,START-END...]: the call is in one of these
//              ranges of ELF addresses (hexadecimal, the end not included)
//   MODULE     build id of the executable or library in hexadecimal, or, of one that has none,
//              "headers=" and ProgramHeadersKey in 16 digits
//
// Empty lines and lines that begin with "#" say nothing. Build ids and ELF addresses are the same
// wherever a module is loaded, and whoever writes the file looks them up in the modules as they are
// now: so a rule holds under address randomisation and for a program that was built anew.
//
// Everything is pure and borrows from the text; nothing allocates. Calling thread: any.
#ifndef MEMAGENT_AGENT_BASE_PLACEMENT_RULE_H_
#define MEMAGENT_AGENT_BASE_PLACEMENT_RULE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace memagent::base {

enum class PlacementKind : uint8_t {
  kBind,        // on these nodes as long as they have room
  kInterleave,  // page by page round the nodes
  kBlock,       // in as many equal parts as there are nodes named, in this order
  kLocal,       // where the thread that touches a page first runs
  kHuge,        // in huge pages
  kNoHuge,
};

enum class PlacementMatch : uint8_t { kStack, kInner, kAny };

struct PlacementRule {
  static constexpr size_t kMaxNodes = 64;
  static constexpr uint16_t kNodeLimit = 1024;  // the kernel's largest MAX_NUMNODES

  std::string_view text;
  std::string_view meaning;
  PlacementKind kind = PlacementKind::kBind;
  PlacementMatch match = PlacementMatch::kStack;
  uint16_t nodes[kMaxNodes] = {};
  uint8_t node_count = 0;
  std::string_view frames;  // with the tabs between them

  std::span<const uint16_t> node_list() const { return {nodes, node_count}; }
};

// Reads one line. Empty when it is a rule; else why not, as the end of a sentence.
std::string_view ParsePlacementRule(std::string_view line, PlacementRule& rule);

// PLACEMENT alone. The same for its part of a rule.
std::string_view ParsePlacement(std::string_view text, PlacementRule& rule);

// Where a call is. All zero: in no module that is known.
struct CodePlace {
  std::span<const uint8_t> build_id;  // raw bytes
  uint64_t headers_key = 0;
  uint64_t address = 0;  // ELF address of the call: its return address minus 1
};

// A number for a module without a build id: of the bytes of its ELF program headers, which are the
// same in the file and in memory.
uint64_t ProgramHeadersKey(std::span<const uint8_t> program_headers);

// One FRAME field of a rule that ParsePlacementRule took.
bool FrameMatches(std::string_view frame, const CodePlace& place);

// The part of `text` before the next `separator` (all of it when there is none); removes both.
std::string_view TakeField(std::string_view& text, char separator);

// Whether a call stack is one that the rule means. `next(place)` sets the next frame, innermost
// first, and is false when there is no more.
template <typename Next>
bool RuleMatches(const PlacementRule& rule, Next next) {
  CodePlace place;
  std::string_view patterns = rule.frames;
  if (rule.match == PlacementMatch::kAny) {
    while (next(place)) {
      for (std::string_view rest = patterns; !rest.empty();) {
        if (FrameMatches(TakeField(rest, '\t'), place)) return true;
      }
    }
    return false;
  }
  while (!patterns.empty()) {
    if (!next(place) || !FrameMatches(TakeField(patterns, '\t'), place)) return false;
  }
  return rule.match == PlacementMatch::kInner || !next(place);
}

}  // namespace memagent::base

#endif  // MEMAGENT_AGENT_BASE_PLACEMENT_RULE_H_
