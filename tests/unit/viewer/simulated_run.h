// Runs of programs that never were, sample by sample, as the viewer sees them: what is true of them
// is known, so that intervals can be held against it.
#ifndef MEMAGENT_TESTS_UNIT_VIEWER_SIMULATED_RUN_H_
#define MEMAGENT_TESTS_UNIT_VIEWER_SIMULATED_RUN_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "viewer/view.h"

namespace memagent::viewer {

// Splitmix64: the same numbers with every library.
class Chance {
 public:
  explicit Chance(uint64_t seed) : state_(seed) {}

  // In [0, 1).
  double Uniform() {
    uint64_t x = (state_ += 0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
  }
  bool Is(double probability) { return Uniform() < probability; }
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>(Uniform() * bound); }
  double Normal() {
    constexpr double kTurn = 6.283185307179586;
    return std::sqrt(-2 * std::log(1 - Uniform())) * std::cos(kTurn * Uniform());
  }

 private:
  uint64_t state_;
};

struct SimulatedSample {
  uint32_t thread = 1;
  uint32_t site = 1;
  int32_t cpu_node = 0;
  int32_t memory_node = 0;
  uint32_t latency_cycles = 0;
};

inline SiteView SimulatedSite(uint32_t id) {
  SiteView site;
  site.profile_id = id;
  site.id = "S" + std::to_string(id);
  site.kind = "heap";
  site.where.function = site.where.short_function = "site" + std::to_string(id);
  site.stack = {site.where};
  return site;
}

// Every sample is counted in its site, its thread and the run.
class RunCounter {
 public:
  explicit RunCounter(View& view) : view_(view) {}

  // Ids of threads, sites and nodes are small numbers.
  void Add(const SimulatedSample& sample) {
    const size_t thread = sample.site * kThreads + sample.thread;
    const size_t key = (thread * kNodes + static_cast<size_t>(sample.cpu_node)) * kNodes +
                       static_cast<size_t>(sample.memory_node);
    if (key >= uses_.size()) uses_.resize(key + 1);
    ++uses_[key];
  }

  void Finish() {
    std::map<uint32_t, SiteView> sites;
    std::map<uint32_t, ThreadView> threads;
    for (size_t key = 0; key < uses_.size(); ++key) {
      const uint64_t count = uses_[key];
      if (count == 0) continue;
      const size_t both = key / kNodes / kNodes;
      const auto thread_id = static_cast<uint32_t>(both % kThreads);
      const auto site_id = static_cast<uint32_t>(both / kThreads);
      Use use;
      use.thread = thread_id;
      use.cpu_node = static_cast<int32_t>(key / kNodes % kNodes);
      use.memory_node = static_cast<int32_t>(key % kNodes);
      use.samples = count;
      SiteView& site = sites.try_emplace(site_id, SimulatedSite(site_id)).first->second;
      site.uses.push_back(use);
      site.samples += count;
      site.located_samples += count;
      if (use.IsRemote()) site.remote_samples += count;
      ThreadView& thread = threads[thread_id];
      thread.id = thread_id;
      thread.name = "worker";
      thread.samples_by_node.resize(view_.node_count);
      thread.samples_by_node[static_cast<size_t>(use.cpu_node)] += count;
      thread.tally.attributed += count;
    }
    for (const auto& [id, site] : sites) {
      view_.located_samples += site.located_samples;
      view_.remote_samples += site.remote_samples;
      view_.tally.attributed += site.samples;
      view_.sites.push_back(site);
    }
    for (const auto& [id, thread] : threads) view_.threads.push_back(thread);
    view_.tally.seen = view_.tally.attributed;
  }

 private:
  static constexpr size_t kThreads = 64;  // at most
  static constexpr size_t kNodes = 4;

  View& view_;
  std::vector<uint64_t> uses_;
};

// Samples in the order of time. At most `kept` single ones are in the profile, a random choice.
inline View SimulatedRun(const std::vector<SimulatedSample>& samples, Chance& chance,
                         size_t kept = 20'000, int nodes = 2) {
  View view;
  view.engine = "software";
  v1::Engine engine;
  engine.set_period(1'000'000);
  engine.set_period_unit("ns");
  view.engine_record = engine;
  view.node_count = static_cast<size_t>(nodes);
  auto& machine = *view.profile.header.mutable_machine();
  for (int node = 0; node < nodes; ++node) machine.add_cpu_nodes(node);
  RunCounter counter(view);
  std::vector<profile::RawSample>& raw_samples = view.profile.raw_samples;
  raw_samples.reserve(std::min(kept, samples.size()));
  for (size_t i = 0; i < samples.size(); ++i) {
    const SimulatedSample& sample = samples[i];
    counter.Add(sample);
    profile::RawSample raw;
    raw.time = i;
    raw.thread = sample.thread;
    raw.cpu = static_cast<uint32_t>(sample.cpu_node);
    raw.site = sample.site;
    raw.evidence = 1;
    raw.memory_node = sample.memory_node;
    raw.latency_cycles = sample.latency_cycles;
    if (raw_samples.size() < kept) {
      raw_samples.push_back(raw);
    } else if (const uint32_t place = chance.Below(static_cast<uint32_t>(i + 1)); place < kept) {
      raw_samples[place] = raw;
    }
  }
  counter.Finish();
  return view;
}

}  // namespace memagent::viewer

#endif  // MEMAGENT_TESTS_UNIT_VIEWER_SIMULATED_RUN_H_
