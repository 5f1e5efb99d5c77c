#include "agent/runtime/site_record.h"

namespace memagent::runtime {
namespace {

base::Vector<profile::PagesData> PagesByNode(const aggregate::SiteStats& stats) {
  base::OrderedMap<NodeId, uint64_t> by_node;
  for (const auto& [page, node] : stats.pages) ++by_node[node];
  base::Vector<profile::PagesData> pages;
  for (const auto& [node, count] : by_node) pages.push_back({node, count});
  return pages;
}

base::Vector<profile::SharingData> SharingOf(const aggregate::SiteStats& stats) {
  base::Vector<profile::SharingData> sharing;
  for (size_t i = 0; i < aggregate::kSharingUnitCount; ++i) {
    const auto& counts = stats.sharing.Of(static_cast<aggregate::SharingUnit>(i));
    if (counts.pairs != 0) sharing.push_back({aggregate::kSharingUnitBytes[i], counts});
  }
  return sharing;
}

}  // namespace

void SiteRecord::FillCounts(const aggregate::SiteStats& stats, profile::SiteTotalData& total) {
  total.samples = stats.samples;
  total.evidence_exact = stats.evidence[static_cast<size_t>(Evidence::kExact)];
  total.evidence_approximate = stats.evidence[static_cast<size_t>(Evidence::kApproximate)];
  total.evidence_pc_only = stats.evidence[static_cast<size_t>(Evidence::kPcOnly)];
  for (const auto& [key, cell] : stats.cells) {
    cells_.push_back({key.thread, key.cpu_node, key.memory_node, cell.samples, cell.latency,
                      cell.stores, cell.positions});
  }
  for (const auto& [key, kind] : stats.kinds.all()) kinds_.push_back(kind);
  for (const auto& [floor, samples] : stats.latency) latency_.push_back({floor, samples});
  total.cells = cells_;
  total.kinds = kinds_;
  total.latency = latency_;
}

void SiteRecord::FillPlaces(const aggregate::SiteStats& stats, profile::SiteTotalData& total) {
  pages_ = PagesByNode(stats);
  sharing_ = SharingOf(stats);
  for (const auto& [key, samples] : stats.strips) {
    strips_.push_back({key.position, key.cpu_node, key.memory_node, samples});
  }
  for (const auto& [key, pages] : stats.policies) {
    policies_.push_back({os::PolicyModeName(key.policy.mode), key.policy.nodes, key.of_thread,
                         pages});
  }
  total.pages = pages_;
  total.sharing = sharing_;
  total.strips = strips_;
  total.strip_samples_left_out = stats.strip_samples_left_out;
  total.policies = policies_;
  total.pages_not_present = stats.pages_not_present;
  total.pages_moved = stats.pages_moved;
  total.huge_pages = stats.huge_pages;
  total.huge_pages_asked = stats.huge_pages_asked;
  total.touched_pages_told = static_cast<uint64_t>(stats.touched_pages_told);
  total.touched_pages_huge = static_cast<uint64_t>(stats.touched_pages_huge);
}

}  // namespace memagent::runtime
