// Turns attributed samples and page faults into counts: by site, by thread, and a reservoir of
// single samples. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_AGGREGATE_AGGREGATOR_H_
#define MEMAGENT_AGENT_AGGREGATE_AGGREGATOR_H_

#include <cstdint>
#include <optional>

#include "agent/aggregate/access_kinds.h"
#include "agent/aggregate/accounting.h"
#include "agent/aggregate/code_fates.h"
#include "agent/aggregate/page_set.h"
#include "agent/aggregate/reservoir.h"
#include "agent/aggregate/site_stats.h"
#include "agent/attribute/attribution.h"
#include "agent/base/containers.h"
#include "agent/decode/sample.h"

namespace memagent::aggregate {

struct ThreadStats {
  Accounting accounting;
  base::Vector<uint64_t> samples_by_node;
  NodeId last_node = NodeId::kUnknown;  // that its last sample came from
  uint64_t node_changes = 0;            // samples that came from another one than that before
  bool changed = false;
};

// A sample with everything known about it.
struct ResolvedSample {
  uint32_t thread = 0;  // serial
  Nanos time = 0;
  uint32_t cpu = 0;
  NodeId cpu_node = NodeId::kUnknown;
  decode::Access access;
  attribute::Attribution attribution;
  NodeId memory_node = NodeId::kUnknown;
  bool page_not_present = false;
  bool has_told = false;  // by an engine of hardware, of an access
  HardwareTold told;
  std::optional<decode::ProfileMeSample> fate;
  uint64_t page_bytes = 0;  // of a fault, of the page that it was about; 0: not told
  uint64_t data_src = 0;  // as the kernel gave it, for the samples that are kept
  // How many faults this one stands for; of an access, how many samples of the nominal period, a
  // whole number.
  double scale = 1;
};

// A page that an access or a first touch has shown, for questions to the kernel about it.
struct FreshPage {
  SiteId site = SiteId::kUnknown;
  uint64_t address = 0;
  bool touched = false;  // just now, for the first time; else accessed
  uint32_t thread = 0;   // that touched it
  Nanos time = 0;
};

class Aggregator {
 public:
  // Different instructions kept for one site; the rest are booked under address 0.
  static constexpr size_t kMaxCode = 4096;
  static constexpr size_t kMaxFirstTouch = 4096;
  // Sampled pages kept for one site: enough for shares by node to within a point.
  static constexpr size_t kMaxPages = 8192;
  // Strips, of which there are 64 for each pair of nodes; what comes after is counted as left out.
  static constexpr size_t kMaxStrips = 8192;
  // Pages offered to be asked about: of a site, each by first touches and by accesses, and at a time.
  static constexpr uint32_t kMaxFreshOfSite = 64;
  static constexpr size_t kMaxFresh = 1024;

  explicit Aggregator(uint64_t reservoir_size) : reservoir_(reservoir_size) {}

  void AddSample(const ResolvedSample& sample);
  void AddFault(const ResolvedSample& fault);

  // Pages of [start, start + size) were given back: the next fault there is a first touch again.
  void ForgetPages(uint64_t start, uint64_t size) { touched_.EraseRange(start, size); }

  // The code in [start, end) is gone: what was counted there is counted as frame_of(ip) from now
  // on.
  template <typename F>
  void NameCode(uint64_t start, uint64_t end, F frame_of) {
    for (auto& [id, site] : sites_) {
      for (const uint64_t ip : site.CodeIn(start, end))
        site.RenameCode(ip, kNamedCode | frame_of(ip));
    }
    fates_.Rename([&](uint64_t ip) {
      return ip >= start && ip < end && ip != 0 ? kNamedCode | frame_of(ip) : ip;
    });
  }

  // Calls visit(FreshPage) for each since the last call.
  template <typename Visit>
  void TakeFreshPages(Visit visit) {
    for (const FreshPage& page : fresh_) visit(page);
    fresh_.clear();
  }

  ThreadStats& Thread(uint32_t serial);
  SiteStats* FindSite(SiteId site);
  base::HashMap<uint32_t, SiteStats>& sites() { return sites_; }
  base::HashMap<uint32_t, ThreadStats>& threads() { return threads_; }
  const CodeFates& fates() const { return fates_; }
  const Reservoir& reservoir() const { return reservoir_; }
  // Samples that were added, and the sum of the squares of what they stand for: how much the counts
  // vary more than counts of single samples do.
  uint64_t samples_taken() const { return samples_taken_; }
  uint64_t sample_weight_squares() const { return sample_weight_squares_; }

 private:
  void AddToSite(SiteStats& site, const ResolvedSample& sample, uint64_t weight);
  void AddAddress(SiteStats& site, CellCount& cell, const ResolvedSample& sample, uint64_t weight);
  void NotePage(SiteStats& site, const ResolvedSample& sample);
  void Offer(uint32_t& of_site, const FreshPage& page);

  base::HashMap<uint32_t, SiteStats> sites_;
  base::HashMap<uint32_t, ThreadStats> threads_;
  uint64_t samples_taken_ = 0;
  uint64_t sample_weight_squares_ = 0;
  CodeFates fates_;
  PageSet touched_;
  SharingRoom sharing_room_;
  base::Vector<FreshPage> fresh_;
  Reservoir reservoir_;
};

}  // namespace memagent::aggregate

#endif  // MEMAGENT_AGENT_AGGREGATE_AGGREGATOR_H_
