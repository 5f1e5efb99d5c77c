// Whether two runs can be compared, and which of their numbers mean nothing side by side.
#ifndef MEMAGENT_VIEWER_COMPARABLE_H_
#define MEMAGENT_VIEWER_COMPARABLE_H_

#include <string>
#include <vector>

#include "viewer/view.h"

namespace memagent::viewer {

struct Comparability {
  // What differs, a phrase each; empty: the runs can be compared.
  std::vector<std::string> differences;
  // What is left out for it, a sentence each.
  std::vector<std::string> left_out;
  bool shares = true;   // what samples tell: one stands for the same
  bool times = true;    // times and cycles
  bool nodes = true;    // anything by node: remote shares, pages
  bool threads = true;  // threads of both runs can be paired

  bool AreComparable() const { return differences.empty(); }
  // The same of more runs: what differs in any of them.
  void Add(const Comparability& other);
};

Comparability CompareSettings(const View& before, const View& after);

// Build-id of the executable; "" when it is not known.
std::string BuildId(const View& view);

// Whether an address in a module is the same code in both: the executables have one build-id, and
// so have all libraries that both runs had (as far as they have any).
bool IsSameCode(const View& before, const View& after);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_COMPARABLE_H_
