// What the profile says of one site, from what was counted of it: SiteTotalData with the memory that
// it borrows. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_SITE_RECORD_H_
#define MEMAGENT_AGENT_RUNTIME_SITE_RECORD_H_

#include <cstdint>

#include "agent/aggregate/site_stats.h"
#include "agent/base/containers.h"
#include "agent/profile/model.h"

namespace memagent::runtime {

class SiteRecord {
 public:
  // Fills `total` but for the counts of blocks. `frame_of(code)` is the frame of an address of code,
  // or of what SiteStats keeps in its place. What `total` borrows lives as long as this object.
  template <typename FrameOf>
  void Fill(const aggregate::SiteStats& stats, FrameOf frame_of, profile::SiteTotalData& total) {
    for (const auto& [ip, count] : stats.code) {
      code_.push_back({frame_of(ip), count.samples, count.remote_samples, count.latency});
    }
    for (const auto& [key, touch] : stats.first_touch) {
      touches_.push_back({key.thread, key.cpu_node, frame_of(key.ip),
                          static_cast<uint64_t>(touch.pages + 0.5), touch.faults,
                          touch.positions});
    }
    total.code = code_;
    total.first_touch = touches_;
    FillCounts(stats, total);
    FillPlaces(stats, total);
  }

 private:
  void FillCounts(const aggregate::SiteStats& stats, profile::SiteTotalData& total);
  void FillPlaces(const aggregate::SiteStats& stats, profile::SiteTotalData& total);

  base::Vector<profile::CellData> cells_;
  base::Vector<profile::CodeData> code_;
  base::Vector<profile::FirstTouchData> touches_;
  base::Vector<profile::PagesData> pages_;
  base::Vector<profile::AccessKindData> kinds_;
  base::Vector<profile::LatencyData> latency_;
  base::Vector<profile::StripData> strips_;
  base::Vector<profile::SharingData> sharing_;
  base::Vector<profile::PolicyData> policies_;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_SITE_RECORD_H_
