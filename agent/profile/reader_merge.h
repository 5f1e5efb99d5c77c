// Merges the chunks of a profile, in file order, into a Profile. Part of the reader.
#ifndef MEMAGENT_AGENT_PROFILE_READER_MERGE_H_
#define MEMAGENT_AGENT_PROFILE_READER_MERGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "agent/profile/reader.h"

namespace memagent::profile {

class Merger {
 public:
  // No table can have more records than the file has bytes: that bounds what ids are believed.
  explicit Merger(size_t file_bytes) : id_limit_(file_bytes) {}

  void Add(v1::Chunk&& chunk);

  // Checks every reference and gives the profile away.
  Profile Finish();

 private:
  // Makes room in `table` for `count` records from id `first` (0: after the last one). Returns the
  // id of the first, or 0 when they don't fit a sane table.
  template <typename Table>
  size_t Place(Table& table, uint32_t first, size_t count, size_t limit);

  void AddStrings(v1::StringTable&& strings);
  void AddModules(v1::Modules&& modules);
  void AddThreads(v1::Threads&& threads);
  void AddCallStacks(const v1::CallStacks& stacks);
  void AddSites(v1::Sites&& sites);
  void AddTotals(v1::Totals&& totals);
  void ApplyTotals(v1::Totals&& totals);
  void TakePlacement(const v1::Totals& totals);
  Site* SiteOf(uint32_t id);
  void AddRawSamples(const v1::RawSamples& samples);
  void AddSymbols(const v1::Symbols& symbols);

  Profile profile_;
  size_t id_limit_;
  std::vector<v1::Totals> pending_;  // parts of a checkpoint whose last part has not come yet
};

// Sets references that lead nowhere to 0 and evens out columns; counts both in bad_references.
void RepairReferences(Profile& profile);

}  // namespace memagent::profile

#endif  // MEMAGENT_AGENT_PROFILE_READER_MERGE_H_
