#include "viewer/thread_pairs.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace memagent::viewer {
namespace {

using ThreadsByName = std::map<std::string, std::vector<const ThreadView*>>;

// A thread's place among those of its name is the program's only in the order of their numbers, which
// the kernel gives in the order of creation; View::threads are in the order in which they came to run.
ThreadsByName ByName(const View& view) {
  ThreadsByName threads;
  for (const ThreadView& thread : view.threads) {
    // The main thread's name is the program's, which may be another one after the change.
    if (thread.id != 0) threads[thread.main ? "" : thread.name].push_back(&thread);
  }
  for (auto& [name, group] : threads) {
    std::stable_sort(group.begin(), group.end(), [](const ThreadView* a, const ThreadView* b) {
      return a->tid < b->tid;
    });
  }
  return threads;
}

double At(const std::vector<uint64_t>& counts, size_t i) {
  return i < counts.size() ? static_cast<double>(counts[i]) : 0;
}

double Sum(const std::vector<uint64_t>& counts) {
  double sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) sum += At(counts, i);
  return sum;
}

// Distance of two distributions over nodes: the part that must move to make them equal.
double Moved(const std::vector<uint64_t>& before, const std::vector<uint64_t>& after) {
  const double all_before = Sum(before);
  const double all_after = Sum(after);
  if (all_before == 0 || all_after == 0) return 0;
  double distance = 0;
  for (size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    distance += std::fabs(At(before, i) / all_before - At(after, i) / all_after) / 2;
  }
  return distance;
}

Located Sum(const LocatedByThread& threads) {
  Located sum;
  for (const auto& [thread, located] : threads) {
    sum.samples += located.samples;
    sum.remote += located.remote;
  }
  return sum;
}

Located Of(const LocatedByThread& threads, uint32_t thread) {
  const auto found = threads.find(thread);
  return found == threads.end() ? Located() : found->second;
}

}  // namespace

void AddLocated(const SiteView& site, LocatedByThread& sum) {
  for (const Use& use : site.uses) {
    if (!use.IsLocated()) continue;
    Located& located = sum[use.thread];
    located.samples += static_cast<double>(use.samples);
    if (use.IsRemote()) located.remote += static_cast<double>(use.samples);
  }
}

ThreadPairs::ThreadPairs(const View& before, const View& after) {
  const ThreadsByName others = ByName(after);
  for (const auto& [name, threads] : ByName(before)) {
    const auto found = others.find(name);
    if (found == others.end()) continue;
    const size_t count = std::min(threads.size(), found->second.size());
    for (size_t i = 0; i < count; ++i) {
      const ThreadView& a = *threads[i];
      const ThreadView& b = *found->second[i];
      const bool is_clear =
          std::min(Sum(a.samples_by_node), Sum(b.samples_by_node)) >= double{kWeakSamples};
      pairs_.push_back({a.id, b.id, Moved(a.samples_by_node, b.samples_by_node), is_clear});
    }
  }
}

double ThreadPairs::PlacementDeviation(const LocatedByThread& before,
                                       const LocatedByThread& after) const {
  const Located all_before = Sum(before);
  const Located all_after = Sum(after);
  if (all_before.samples == 0 || all_after.samples == 0) return 0;
  double variance = 0;
  for (const Pair& pair : pairs_) {
    const Located b = Of(before, pair.before);
    const Located a = Of(after, pair.after);
    const double change = a.remote / all_after.samples - b.remote / all_before.samples;
    const double weight = std::max(a.samples / all_after.samples, b.samples / all_before.samples);
    variance += std::pow(std::min(std::fabs(change), pair.moved * weight), 2);
  }
  return std::sqrt(variance);
}

bool ThreadPairs::AnyMoved() const {
  constexpr double kClearly = 0.1;
  return std::any_of(pairs_.begin(), pairs_.end(),
                     [](const Pair& pair) { return pair.is_clear && pair.moved > kClearly; });
}

}  // namespace memagent::viewer
