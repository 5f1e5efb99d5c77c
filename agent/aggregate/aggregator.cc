#include "agent/aggregate/aggregator.h"

#include <algorithm>
#include <bit>

#include "agent/aggregate/positions.h"
#include "agent/os/machine.h"

namespace memagent::aggregate {
namespace {

// The entry of `key`, or that of `overflow` once the map holds `limit` others.
template <typename Map, typename Key>
auto& Bounded(Map& map, const Key& key, const Key& overflow, size_t limit) {
  if (map.size() < limit) return map[key];
  const auto it = map.find(key);
  return it != map.end() ? it->second : map[overflow];
}

PageWitness Witness(const ResolvedSample& sample) {
  return WitnessOf(sample.cpu_node, sample.memory_node);
}

void CountNode(ThreadStats& thread, NodeId node, uint64_t weight) {
  if (node == NodeId::kUnknown) return;
  const auto index = static_cast<size_t>(node);
  if (thread.samples_by_node.size() <= index) thread.samples_by_node.resize(index + 1);
  thread.samples_by_node[index] += weight;
  thread.node_changes += thread.last_node != NodeId::kUnknown && thread.last_node != node;
  thread.last_node = node;
}

// Whether the address is that of the access, or at least of another by the same instruction.
bool HasAddress(const decode::Access& access) {
  return access.evidence == Evidence::kExact || access.evidence == Evidence::kApproximate;
}

constexpr uint64_t kSmallPage = 4096;  // of PageSet
constexpr uint64_t kHugePage = uint64_t{1} << 21;
constexpr uint64_t kLargestPage = uint64_t{1} << 30;

struct PageSpan {
  uint64_t start = 0;
  uint64_t end = 0;
};

// What a fault brought: a page of its size, a small one where that is not told.
PageSpan BroughtBy(const ResolvedSample& fault) {
  uint64_t bytes = fault.page_bytes;
  if (!std::has_single_bit(bytes) || bytes > kLargestPage) bytes = 0;
  bytes = std::max(bytes, kSmallPage);
  const uint64_t start = fault.access.address & ~(bytes - 1);
  return {start, start + bytes};
}

// How many of `fresh` small pages are the block's, in pages of this system's size. A huge page may
// reach into what lies around its block.
double PagesOfBlock(const attribute::Attribution& block, const PageSpan& span, uint64_t fresh) {
  PageSpan part = span;
  if (block.size_bytes != 0) {
    const uint64_t end = block.start + block.size_bytes + kSmallPage - 1;
    part.start = std::max(part.start, block.start & ~(kSmallPage - 1));
    part.end = std::min(part.end, end & ~(kSmallPage - 1));
  }
  const uint64_t bytes = std::min(part.end - std::min(part.start, part.end), fresh * kSmallPage);
  return std::max(1.0, static_cast<double>(bytes) / static_cast<double>(os::PageBytes()));
}

}  // namespace

ThreadStats& Aggregator::Thread(uint32_t serial) {
  ThreadStats& thread = threads_[serial];
  thread.changed = true;
  return thread;
}

SiteStats* Aggregator::FindSite(SiteId site) {
  const auto it = sites_.find(static_cast<uint32_t>(site));
  return it == sites_.end() ? nullptr : &it->second;
}

void Aggregator::Offer(uint32_t& of_site, const FreshPage& page) {
  if (of_site >= kMaxFreshOfSite || fresh_.size() >= kMaxFresh) return;
  ++of_site;
  fresh_.push_back(page);
}

void Aggregator::NotePage(SiteStats& site, const ResolvedSample& sample) {
  if (sample.memory_node == NodeId::kUnknown) return;
  const uint64_t page = sample.access.address / 4096;
  const auto known = site.pages.find(page);
  if (known != site.pages.end()) {
    site.pages_moved += known->second != sample.memory_node;
    known->second = sample.memory_node;
  } else if (site.pages.size() < kMaxPages) {
    site.pages.emplace(page, sample.memory_node);
    Offer(site.fresh_accesses,
          {sample.attribution.site, sample.access.address, false, sample.thread, sample.time});
  }
}

// What is said of places in memory, for samples that tell the place.
void Aggregator::AddAddress(SiteStats& site, CellCount& cell, const ResolvedSample& sample,
                            uint64_t weight) {
  const attribute::Attribution& block = sample.attribution;
  const uint64_t address = sample.access.address;
  if (const auto position = PositionIn(block, address)) {
    cell.positions |= PositionBit(position);
    const StripKey key = {*position, sample.cpu_node, sample.memory_node};
    const auto known = site.strips.find(key);
    if (known != site.strips.end()) {
      known->second += weight;
    } else if (site.strips.size() < kMaxStrips) {
      site.strips.emplace(key, weight);
    } else {
      site.strip_samples_left_out += weight;
    }
  }
  if (sample.cpu_node == NodeId::kUnknown) return;
  site.sharing.Note(address, block.size_bytes == 0 ? 0 : block.start,
                    {0, sample.thread, sample.cpu_node, sample.access.is_store}, sharing_room_);
}

void Aggregator::AddToSite(SiteStats& site, const ResolvedSample& sample, uint64_t weight) {
  site.changed = true;
  site.samples += weight;
  site.evidence[static_cast<size_t>(sample.access.evidence)] += weight;
  CellCount& cell = site.cells[{sample.thread, sample.cpu_node, sample.memory_node}];
  cell.samples += weight;
  cell.latency.Add(sample.told.latency_cycles, weight);
  if (sample.access.is_store) cell.stores += weight;
  if (HasAddress(sample.access)) AddAddress(site, cell, sample, weight);
  CodeCount& code = Bounded(site.code, sample.access.ip, uint64_t{0}, kMaxCode);
  code.samples += weight;
  if (Witness(sample) == PageWitness::kOtherNode) code.remote_samples += weight;
  code.latency.Add(sample.told.latency_cycles, weight);
  if (sample.has_told) site.kinds.Add(sample.told, Witness(sample), weight);
  if (sample.told.latency_cycles != 0)
    site.latency[LatencyFloor(sample.told.latency_cycles)] += weight;
  NotePage(site, sample);
  if (sample.page_not_present) ++site.pages_not_present;
}

void Aggregator::AddSample(const ResolvedSample& sample) {
  const auto weight = static_cast<uint64_t>(sample.scale);
  ++samples_taken_;
  sample_weight_squares_ += weight * weight;
  ThreadStats& thread = Thread(sample.thread);
  Accounting& accounting = thread.accounting;
  accounting.samples_seen += weight;
  accounting.evidence[static_cast<size_t>(sample.access.evidence)] += weight;
  CountNode(thread, sample.cpu_node, weight);
  if (sample.fate) fates_.Add(sample.access.ip, *sample.fate, weight);
  if (sample.attribution.attributed()) {
    accounting.attributed += weight;
    AddToSite(sites_[static_cast<uint32_t>(sample.attribution.site)], sample, weight);
  } else {
    accounting.unattributed[static_cast<size_t>(sample.attribution.reason)] += weight;
  }
  reservoir_.Offer({sample.time, sample.access.ip, sample.access.address, sample.thread, sample.cpu,
                    static_cast<uint32_t>(sample.attribution.site), sample.access.evidence,
                    sample.memory_node, sample.told.latency_cycles, sample.data_src});
}

void Aggregator::AddFault(const ResolvedSample& fault) {
  Accounting& accounting = Thread(fault.thread).accounting;
  ++accounting.faults_seen;
  if (!fault.attribution.attributed()) {
    ++accounting.faults_unattributed[static_cast<size_t>(fault.attribution.reason)];
    return;
  }
  ++accounting.faults_attributed;
  const PageSpan span = BroughtBy(fault);
  const uint64_t fresh = touched_.InsertRange(span.start, span.end);
  if (fresh == 0) return;
  SiteStats& site = sites_[static_cast<uint32_t>(fault.attribution.site)];
  site.changed = true;
  const TouchKey key = {fault.thread, fault.cpu_node, fault.access.ip};
  const TouchKey other = {fault.thread, fault.cpu_node, 0};
  TouchCount& touch = Bounded(site.first_touch, key, other, kMaxFirstTouch);
  ++touch.faults;
  const double pages = fault.scale * PagesOfBlock(fault.attribution, span, fresh);
  touch.pages += pages;
  if (fault.page_bytes != 0) {
    site.touched_pages_told += pages;
    if (fault.page_bytes >= kHugePage) site.touched_pages_huge += pages;
  }
  touch.positions |= PositionBits(fault.attribution, span.start, span.end);
  Offer(site.fresh_touches,
        {fault.attribution.site, fault.access.address, true, fault.thread, fault.time});
}

}  // namespace memagent::aggregate
