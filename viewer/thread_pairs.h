// Threads of two runs of one program, paired; and what of a change in remote shares may come from
// the system having put threads on other nodes in the second run.
//
// Two runs of one program differ little in what each thread does, and it would be wrong to take its
// threads for a choice of many: that half of them are remote is the program's, not chance. What
// does change by chance, where threads are not pinned, is the node that each is put on.
#ifndef MEMAGENT_VIEWER_THREAD_PAIRS_H_
#define MEMAGENT_VIEWER_THREAD_PAIRS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "viewer/view.h"

namespace memagent::viewer {

// Samples of one thread whose nodes are known.
struct Located {
  double samples = 0;
  double remote = 0;
};
using LocatedByThread = std::map<uint32_t, Located>;

// Of one site, added to `sum`.
void AddLocated(const SiteView& site, LocatedByThread& sum);

class ThreadPairs {
 public:
  struct Pair {
    uint32_t before = 0;  // ids
    uint32_t after = 0;
    double moved = 0;       // part of its samples that came from other nodes than before
    bool is_clear = false;  // it has enough samples for that to be told from chance
  };

  // Pairs by name, threads of one name in the order in which they were created.
  ThreadPairs(const View& before, const View& after);

  const std::vector<Pair>& pairs() const { return pairs_; }

  // Standard error of the change in remote share that comes from where threads were put: what each
  // thread that ran elsewhere added to the change, at most what its moving can explain, might as
  // well have been the reverse.
  double PlacementDeviation(const LocatedByThread& before, const LocatedByThread& after) const;

  // Whether any thread ran elsewhere: by more than a tenth of its samples.
  bool AnyMoved() const;

 private:
  std::vector<Pair> pairs_;
};

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_THREAD_PAIRS_H_
