// After merging: no id of a Profile leads out of its table, and every floating-point number is a
// rate or a variance.
#include <algorithm>

#include "agent/profile/reader_merge.h"

namespace memagent::profile {
namespace {

class Repair {
 public:
  explicit Repair(Profile& profile) : p_(profile) {}

  void All() {
    for (v1::Engine& engine : *p_.header.mutable_engines()) FixRate(engine);
    FixMachine(*p_.header.mutable_machine());
    FixEconomy(p_.economy);
    for (v1::Module& module : p_.modules) Fix(module, &v1::Module::path, &v1::Module::set_path);
    for (Thread& thread : p_.threads) FixThread(thread);
    for (Frame& frame : p_.frames) {
      frame.module = Valid(frame.module, p_.modules.size());
      frame.function = Valid(frame.function, p_.strings.size());
    }
    for (size_t id = 0; id < p_.stacks.size(); ++id) {
      p_.stacks[id].parent = Valid(p_.stacks[id].parent, std::max<size_t>(id, 1));
      p_.stacks[id].frame = Valid(p_.stacks[id].frame, p_.frames.size());
    }
    for (auto& [id, site] : p_.sites) FixSite(id, site);
    for (v1::CodeFate& fate : p_.code_fates) {
      fate.set_frame(Valid(fate.frame(), p_.frames.size()));
      EvenOut(fate.mutable_trap(), fate.mutable_trapped());
    }
    for (v1::PlacementCall& call : p_.placement_calls) {
      call.set_thread(Valid(call.thread(), p_.threads.size()));
      call.set_frame(Valid(call.frame(), p_.frames.size()));
      if (call.site() != 0 && p_.sites.count(call.site()) == 0) call.set_site(Bad());
    }
    for (v1::AppliedPlacement& placement : p_.applied_placements) FixPlacement(placement);
    for (RawSample& sample : p_.raw_samples) {
      sample.thread = Valid(sample.thread, p_.threads.size());
      if (sample.site != 0 && p_.sites.count(sample.site) == 0) sample.site = Bad();
    }
  }

 private:
  uint32_t Bad() {
    ++p_.load.bad_references;
    return 0;
  }
  uint32_t Valid(uint32_t id, size_t size) { return id < size ? id : Bad(); }

  // Everything that is asked of nodes takes time for each. The table of distances has a row for
  // each node of the list: it fits no shorter one.
  void FixMachine(v1::Machine& machine) {
    constexpr int kMostNodes = 1024;    // the kernel's largest MAX_NUMNODES
    constexpr int kMostCpus = 1 << 16;  // its largest NR_CPUS is 8192
    if (machine.nodes_size() > kMostNodes) {
      p_.load.bad_references += static_cast<uint64_t>(machine.nodes_size() - kMostNodes);
      machine.mutable_nodes()->DeleteSubrange(kMostNodes, machine.nodes_size() - kMostNodes);
      machine.clear_distances();
    }
    if (machine.cpu_nodes_size() > kMostCpus) machine.mutable_cpu_nodes()->Truncate(kMostCpus);
  }

  // Not a number, negative, or more than anybody samples: then it is as good as not given.
  static void FixRate(v1::Engine& engine) {
    constexpr double kMostHz = 1e12;
    if (!(engine.rate_hz() >= 0 && engine.rate_hz() <= kMostHz)) engine.set_rate_hz(0);
  }

  // Fixes a string id behind a getter and a setter of a generated message.
  template <typename Message>
  void Fix(Message& message, uint32_t (Message::*get)() const, void (Message::*set)(uint32_t)) {
    const uint32_t id = (message.*get)();
    if (id >= p_.strings.size()) (message.*set)(Bad());
  }

  void FixPlacement(v1::AppliedPlacement& placement) {
    for (uint32_t& site : *placement.mutable_site()) {
      if (site != 0 && p_.sites.count(site) == 0) site = Bad();
    }
  }

  void FixThread(Thread& thread) {
    Fix(thread.start, &v1::Thread::name, &v1::Thread::set_name);
    Fix(thread.total, &v1::ThreadTotal::name, &v1::ThreadTotal::set_name);
  }

  void FixSite(uint32_t id, Site& site) {
    site.site.set_id(id);
    site.total.set_site(id);
    Fix(site.site, &v1::Site::name, &v1::Site::set_name);
    site.site.set_stack(Valid(site.site.stack(), p_.stacks.size()));
    site.site.set_module(Valid(site.site.module(), p_.modules.size()));
    if (!v1::RegionKind_IsValid(site.site.kind())) site.site.set_kind(v1::UNKNOWN);
    FixTotal(site.total);
  }

  void FixTotal(v1::SiteTotal& total) {
    if (total.has_sampled()) FixSampled(*total.mutable_sampled());
    EvenOut(total.mutable_cell_thread(), total.mutable_cell_cpu_node(),
            total.mutable_cell_memory_node(), total.mutable_cell_samples());
    EvenOut(total.mutable_code_frame(), total.mutable_code_samples(),
            total.mutable_code_remote_samples());
    EvenOut(total.mutable_page_node(), total.mutable_page_count());
    EvenOut(total.mutable_strip_position(), total.mutable_strip_cpu_node(),
            total.mutable_strip_memory_node(), total.mutable_strip_samples());
    EvenOut(total.mutable_latency_floor_cycles(), total.mutable_latency_samples());
    FitOptional(total.cell_samples_size(), total.mutable_cell_latency_samples(),
                total.mutable_cell_latency_cycles());
    FitOptional(total.cell_samples_size(), total.mutable_cell_stores());
    FitOptional(total.cell_samples_size(), total.mutable_cell_positions());
    FitOptional(total.code_samples_size(), total.mutable_code_latency_samples(),
                total.mutable_code_latency_cycles());
    constexpr size_t kPositions = 64;  // of a block
    for (uint32_t& position : *total.mutable_strip_position()) {
      position = Valid(position, kPositions);
    }
    for (uint32_t& thread : *total.mutable_cell_thread()) {
      thread = Valid(thread, p_.threads.size());
    }
    for (uint32_t& frame : *total.mutable_code_frame()) frame = Valid(frame, p_.frames.size());
    for (v1::FirstTouch& touch : *total.mutable_first_touch()) {
      touch.set_thread(Valid(touch.thread(), p_.threads.size()));
      touch.set_frame(Valid(touch.frame(), p_.frames.size()));
    }
  }

  static void FixEconomy(v1::Economy& economy) {
    const auto is_share = [](double value) { return value >= 0 && value <= 1e6; };
    if (!is_share(economy.budget_share())) economy.set_budget_share(0);
    if (!is_share(economy.overhead_share())) economy.set_overhead_share(0);
  }

  // A variance that is none becomes the largest number: then nothing is known.
  static double Variance(double value) {
    constexpr double kLargest = 1e200;  // its root and a sum of many are still numbers
    return value >= 0 && value < kLargest ? value : kLargest;
  }
  static void FixSampled(v1::SampledCounts& s) {
    s.set_allocations_variance(Variance(s.allocations_variance()));
    s.set_frees_variance(Variance(s.frees_variance()));
    s.set_bytes_allocated_variance(Variance(s.bytes_allocated_variance()));
    s.set_bytes_freed_variance(Variance(s.bytes_freed_variance()));
    s.set_bytes_peak_variance(Variance(s.bytes_peak_variance()));
    s.set_blocks_live_variance(Variance(s.blocks_live_variance()));
    s.set_bytes_live_variance(Variance(s.bytes_live_variance()));
  }

  // Cuts columns that belong together to the length of the shortest.
  template <typename... Columns>
  void EvenOut(Columns*... columns) {
    const int shortest = std::min({columns->size()...});
    const int longest = std::max({columns->size()...});
    if (shortest == longest) return;
    p_.load.bad_references += static_cast<uint64_t>(longest - shortest);
    (columns->Truncate(shortest), ...);
  }

  // Columns that are either absent or as long as others: absent when they are not.
  template <typename... Columns>
  void FitOptional(int length, Columns*... columns) {
    const int longest = std::max({columns->size()...});
    if (longest == 0 || (... && (columns->size() == length))) return;
    p_.load.bad_references += static_cast<uint64_t>(longest);
    (columns->Clear(), ...);
  }

  Profile& p_;
};

}  // namespace

void RepairReferences(Profile& profile) { Repair(profile).All(); }

}  // namespace memagent::profile
