// How the nodes of a machine use a site's memory: one word, and the evidence for it.
//
// Decided by counts and their 95 % intervals, in this order; docs/ADVICE.md has the thresholds:
//   producer/consumer   one node touches or writes what other nodes then use
//   one owner           one node makes nearly all accesses, or one for each block
//   blocked             a page is used by one node, and so is the 64th of the block around it
//   cyclic              a page is used by one node, the 64th of the block by several
//   all-shared          several nodes use the same pages; read, written, or not known which
//   unknown             nothing of this can be told from chance
#ifndef MEMAGENT_VIEWER_PATTERN_H_
#define MEMAGENT_VIEWER_PATTERN_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "viewer/site_use.h"
#include "viewer/view.h"

namespace memagent::viewer {

enum class PatternKind {
  kUnknown,
  kOneOwner,
  kOwnerOfEachBlock,
  kBlocked,
  kCyclic,
  kShared,  // whether it is written is not known
  kSharedRead,
  kSharedWritten,
  kProducerConsumer,
};

struct Pattern {
  PatternKind kind = PatternKind::kUnknown;
  int32_t node = -1;  // the owner; the producer
  std::string why;    // a phrase for people, ASCII; never empty
};

Pattern PatternOf(const View& view, const SiteView& site);

// "one owner", "blocked", ...; used in JSON, too.
std::string_view PatternWord(PatternKind kind);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_PATTERN_H_
