// A profile of one site, built from what causes, patterns and advice are decided from.
#ifndef MEMAGENT_TESTS_UNIT_VIEWER_PLACED_SITE_H_
#define MEMAGENT_TESTS_UNIT_VIEWER_PLACED_SITE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/viewer/sample_profiles.h"

namespace memagent::viewer {

// Threads are 0 to 3, of any node. The site is one heap block of 64 MiB unless Blocks() says
// otherwise; all memory samples of the profile are its own.
class PlacedSite {
 public:
  explicit PlacedSite(int nodes = 2) {
    FillHeader(b_, nodes);
    const uint32_t app = b_.Module("/opt/demo/stencil");
    for (int i = 0; i < 4; ++i) {
      threads_.push_back(b_.Thread(4711 + i, "worker-" + std::to_string(i), i == 0));
    }
    const uint32_t main = b_.Frame(app, 0x2000, "main");
    const uint32_t allocate = b_.Frame(app, 0x1234, "allocate");
    fill_ = b_.Instruction(app, 0x4200, "fill");
    site_ = &b_.Site(v1::HEAP, b_.Stack({allocate, main}));
    total_ = &b_.SiteTotal(*site_);
    Blocks(1, 0, uint64_t{64} << 20);
  }

  PlacedSite& Blocks(uint64_t allocations, uint64_t frees, uint64_t bytes_each) {
    SetMemory(*total_, allocations, frees, allocations * bytes_each, frees * bytes_each,
              (allocations - frees) * bytes_each);
    return *this;
  }
  PlacedSite& Kind(v1::RegionKind kind) {
    site_->set_kind(kind);
    return *this;
  }
  // Before Use: the engine sees a store now and then, as the software engine does.
  PlacedSite& StoresByChance() {
    stores_by_chance_ = true;
    return *this;
  }
  // Row by row, for all nodes.
  PlacedSite& Distances(const std::vector<uint32_t>& table) {
    machine().clear_distances();
    for (const uint32_t distance : table) machine().add_distances(distance);
    return *this;
  }
  PlacedSite& AllHuge(uint64_t pages) {
    total_->set_huge_pages(pages);
    total_->set_huge_pages_asked(pages);
    return *this;
  }
  PlacedSite& Use(int thread, int cpu_node, int memory_node, uint64_t samples, uint64_t stores = 0,
                  uint64_t positions = 0) {
    AddUse(*total_, threads_[static_cast<size_t>(thread)], cpu_node, memory_node, samples);
    total_->add_cell_stores(stores);
    if (stores > 0 && !stores_by_chance_)
      b_.header().mutable_engines(1)->set_knows_loads_and_stores(true);
    total_->add_cell_positions(positions);
    samples_ += samples;
    return *this;
  }
  PlacedSite& Touch(int thread, int node, uint64_t faults, uint64_t positions = 0) {
    AddTouch(*total_, threads_[static_cast<size_t>(thread)], node, fill_, faults, faults);
    total_->mutable_first_touch(total_->first_touch_size() - 1)->set_positions(positions);
    return *this;
  }
  PlacedSite& Pages(int node, uint64_t pages) {
    AddPages(*total_, node, pages);
    return *this;
  }
  PlacedSite& Pairs(uint64_t unit_bytes, uint64_t pairs, uint64_t same_node,
                    uint64_t same_thread = 0, uint64_t written = 0) {
    v1::Sharing& sharing = *total_->add_sharing();
    sharing.set_unit_bytes(unit_bytes);
    sharing.set_pairs(pairs);
    sharing.set_same_node(same_node);
    sharing.set_same_thread(same_thread);
    sharing.set_other_node_written(written);
    return *this;
  }
  PlacedSite& Strip(uint32_t position, int cpu_node, int memory_node, uint64_t samples) {
    total_->add_strip_position(position);
    total_->add_strip_cpu_node(cpu_node);
    total_->add_strip_memory_node(memory_node);
    total_->add_strip_samples(samples);
    return *this;
  }
  // Equal parts of the block used by one node each, all on node `memory_node`.
  PlacedSite& Parts(const std::vector<int>& nodes, int memory_node, uint64_t samples_each) {
    for (uint32_t i = 0; i < 64; ++i) {
      Strip(i, nodes[i * nodes.size() / 64], memory_node, samples_each);
    }
    return *this;
  }
  PlacedSite& Policy(const std::string& mode, const std::vector<uint32_t>& nodes, uint64_t pages,
                     bool of_thread = false) {
    v1::PolicyCount& policy = *total_->add_policy();
    policy.set_mode(mode);
    for (const uint32_t node : nodes) policy.add_node(node);
    policy.set_pages(pages);
    policy.set_of_thread(of_thread);
    return *this;
  }
  v1::PlacementCall& Call(const std::string& name, int thread) {
    v1::PlacementCall& call = *b_.totals().add_placement_call();
    call.set_call(name);
    call.set_thread(threads_[static_cast<size_t>(thread)]);
    call.set_calls(1);
    return call;
  }
  PlacedSite& Counters(uint32_t node, uint64_t miss, uint64_t foreign) {
    v1::NodeCounters& counters = *b_.totals().add_node();
    counters.set_node(node);
    counters.set_miss(miss);
    counters.set_foreign(foreign);
    return *this;
  }

  v1::SiteTotal& total() { return *total_; }
  v1::Machine& machine() { return *b_.header().mutable_machine(); }
  ProfileBuilder& builder() { return b_; }

  std::string Bytes() {
    SetEvidence(*total_, samples_, 0, 0);
    v1::Accounting& all = *b_.totals().mutable_accounting();
    all.set_samples_seen(samples_);
    all.set_attributed(samples_);
    all.set_evidence_exact(samples_);
    return b_.Bytes();
  }
  View Build() { return ViewOf(Bytes()); }

 private:
  ProfileBuilder b_;
  std::vector<uint32_t> threads_;
  uint32_t fill_ = 0;
  v1::Site* site_ = nullptr;
  v1::SiteTotal* total_ = nullptr;
  bool stores_by_chance_ = false;
  uint64_t samples_ = 0;
};

}  // namespace memagent::viewer

#endif  // MEMAGENT_TESTS_UNIT_VIEWER_PLACED_SITE_H_
