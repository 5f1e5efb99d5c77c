// Finds the same sites in two runs, of builds that may differ: lines move, calls are inlined, code
// is inserted.
#ifndef MEMAGENT_VIEWER_SITE_MATCH_H_
#define MEMAGENT_VIEWER_SITE_MATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "viewer/view.h"

namespace memagent::viewer {

// How two sites were found to be the same, best first.
enum class MatchedBy : uint8_t {
  kName,       // a variable, thread or file of that name
  kCallStack,  // the functions of the whole call stack, in order; lines may have moved
  kFunctions,  // the same functions, but for order, repeats and plumbing
  kFunction,   // the allocating function and the kind of memory
  kNothing,
};
inline constexpr size_t kMatchedByCount = 5;
// "call_stack": as JSON has it.
std::string_view MatchedByWord(MatchedBy how);

struct SitePair {
  const SiteView* before = nullptr;
  const SiteView* after = nullptr;
  MatchedBy how = MatchedBy::kNothing;
  bool moved = false;  // a line of the call stack is another one
};

using Sites = std::vector<const SiteView*>;
Sites AllSites(const View& view);

// Every site is in one pair, alone when nothing matches it. Several that a method can't tell apart
// pair first where their lines are equal, then in the order of their lines; where these are equal,
// too, in the order of their addresses, then by size.
// `same_code` (comparable.h): calls at other addresses are other sites, whatever their names.
std::vector<SitePair> MatchSites(const Sites& before, const Sites& after, bool same_code);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_SITE_MATCH_H_
