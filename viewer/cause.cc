#include "viewer/cause.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "viewer/placement_calls.h"
#include "viewer/site_use.h"
#include "viewer/wandering.h"

namespace memagent::viewer {
namespace {

constexpr size_t kKinds = static_cast<size_t>(CauseKind::kUnknown) + 1;
// Of a site's pages: less than this beyond what touches and policies explain is not looked into.
constexpr double kSlack = 0.02;
// Threads with as many pages may have so many times the samples of each other.
constexpr double kUneven = 2;
// Bounds for hostile files; no machine has more nodes.
constexpr size_t kMostHomes = 1024;
constexpr size_t kMostTouches = 1024;  // of one node

size_t IndexOf(CauseKind kind) { return static_cast<size_t>(kind); }

// Bits of `mask` that are also in `other`, as a share; 1 where a mask is not told.
double Overlap(uint64_t mask, uint64_t other) {
  if (mask == 0 || other == 0) return 1;
  return static_cast<double>(__builtin_popcountll(mask & other)) /
         static_cast<double>(__builtin_popcountll(mask));
}

class Finder {
 public:
  Finder(const View& view, const SiteView& site)
      : view_(view), site_(site), use_(UseOf(site)), in_page_(SharingOf(kPageUnit)) {
    for (const FirstTouch& touch : site.first_touch) {  // most pages first
      if (touch.cpu_node < 0) continue;
      auto& there = touches_[touch.cpu_node];
      if (there.size() < kMostTouches) there.push_back(&touch);
      touched_[touch.cpu_node] += static_cast<double>(touch.pages);
      all_faults_ += touch.faults;
      all_touched_ += static_cast<double>(touch.pages);
    }
    for (const NodePages& pages : site.pages) {
      if (pages.node >= 0) pages_[pages.node] += pages.pages;
    }
    if (pages_.empty()) pages_ = use_.by_home;
  }

  std::vector<Cause> Run() {
    std::map<int32_t, std::vector<const Use*>> remote;
    for (const Use& use : site_.uses) {
      if (!use.IsRemote()) continue;
      if (remote.size() < kMostHomes || remote.count(use.memory_node) > 0) {
        remote[use.memory_node].push_back(&use);
      } else {
        Add(CauseKind::kUnknown, use.memory_node, static_cast<double>(use.samples));
      }
    }
    for (const auto& [home, uses] : remote) Divide(home, uses);
    TakeHugePages();
    TakeWandering();
    return Rounded();
  }

 private:
  // What a node's pages are there for, in shares of all pages of the site.
  struct Parts {
    double policy = 0;
    double touch = 0;
    double excess = 0;   // more pages than these two explain
    double unknown = 0;  // nothing is known of how they came to be
  };

  const memagent::v1::Sharing* SharingOf(uint64_t unit) const {
    for (const auto& sharing : site_.sharing) {
      if (sharing.unit_bytes() == unit && sharing.pairs() >= kWeakSamples) return &sharing;
    }
    return nullptr;
  }

  void Add(CauseKind kind, int32_t home, double samples) {
    if (samples > 0) by_home_[IndexOf(kind)][home] += samples;
  }

  Parts PartsOf(int32_t home) const {
    Parts parts;
    const PolicyShare policy = PolicyShareOf(site_, home);
    const auto on_home = pages_.find(home);
    const uint64_t there = on_home == pages_.end() ? 0 : on_home->second;
    const Interval share = WilsonInterval(there, SumOf(pages_), site_.design_effect);
    parts.policy = policy.forced_here;
    const double left = 1 - policy.forced;
    if (all_faults_ == 0) {
      parts.unknown = std::max(0.0, share.high - policy.forced_here) * left;
      return parts;
    }
    const auto found = touched_.find(home);
    const double touched =
        found == touched_.end() ? 0 : found->second / std::max(1.0, all_touched_);
    const uint64_t faults = RoundedSamples(touched * static_cast<double>(all_faults_));
    parts.touch = left * touched;
    const double explained =
        policy.forced_here +
        left * WilsonInterval(std::min(faults, all_faults_), all_faults_).high + kSlack;
    if (share.low > explained) {
      parts.excess = Share(there, SumOf(pages_)) - policy.forced_here - parts.touch;
    }
    return parts;
  }

  void Divide(int32_t home, const std::vector<const Use*>& uses) {
    double remote = 0;
    for (const Use* use : uses) remote += static_cast<double>(use->samples);
    const Parts parts = PartsOf(home);
    const double sum = parts.policy + parts.touch + parts.excess + parts.unknown;
    if (sum <= 0) return Add(CauseKind::kUnknown, home, remote);
    const double each = remote / sum;
    Add(CauseKind::kPolicy, home, each * parts.policy);
    if (parts.excess > 0) AddExcess(home, parts.excess, each);
    Add(CauseKind::kUnknown, home, each * parts.unknown);
    for (const Use* use : uses) {
      const double touched = static_cast<double>(use->samples) * parts.touch / sum;
      const double own = OwnShare(*use);
      Add(CauseKind::kThreadMoved, home, touched * own);
      Add(CauseKind::kTouchedElsewhere, home, touched * (1 - own));
    }
  }

  // Pages lie here that neither a touch nor a policy put here.
  void AddExcess(int32_t home, double excess, double samples_each) {
    if (!was_moved_) was_moved_ = !MovingCalls(view_, site_).empty();
    const double moved = *was_moved_ ? excess : std::min(excess, MostPagesMoved());
    Add(CauseKind::kPageMoved, home, samples_each * moved);
    if (excess > moved) Add(ExcessCause(home, excess), home, samples_each * (excess - moved));
  }

  // A page is seen to change its node by two samples in it. Of the pages that have two, so many
  // did, and no more than as many again. 1 when it is not known how many have.
  double MostPagesMoved() const {
    if (site_.pages_moved == 0) return 0;
    if (in_page_ == nullptr) return 1;
    const uint64_t sampled_twice = std::min(in_page_->pairs(), SumOf(pages_));
    return std::min(1.0, 2 * Share(site_.pages_moved, sampled_twice));
  }

  CauseKind ExcessCause(int32_t home, double excess) const {
    if (WasGivenElsewhere(view_, home, excess * all_touched_)) return CauseKind::kNodeFull;
    return view_.profile.numa_pages_migrated > 0 ? CauseKind::kPageMoved : CauseKind::kUnknown;
  }

  // Of the pages that a thread uses from another node: the share that it touched itself.
  double OwnShare(const Use& use) const {
    double own = 0;
    double all = 0;
    const auto touches = touches_.find(use.memory_node);
    if (touches == touches_.end()) return 0;
    for (const FirstTouch* touch : touches->second) {
      const double pages =
          static_cast<double>(touch->pages) * Overlap(touch->positions, use.positions);
      all += pages;
      if (touch->thread == use.thread && touch->thread != 0) own += pages;
    }
    if (all <= 0) return 0;
    const double share = own / all;
    if (in_page_ == nullptr || own <= 0) return share;
    // Where each page has one user, a thread uses the pages that it touched as far as these go.
    const double alone = Share(in_page_->same_thread(), in_page_->pairs());
    const double needed = Share(use_.by_thread.at(use.thread), use_.located) * all_touched_;
    const double reach = needed <= 0 ? share : std::min(1.0, kUneven * own / needed);
    return std::clamp(alone * std::max(share, reach) + (1 - alone) * share, 0.0, 1.0);
  }

  // Accesses that stay remote whoever touches first, since the page is larger than the parts that
  // nodes use: by how much two accesses in 2 MiB are more often from two nodes than in 4 KiB.
  void TakeHugePages() {
    const auto small = MixingIn(site_, use_, kPageUnit);
    const auto huge = MixingInHugePages(site_, use_);
    if (!small || !huge || small->interval.high >= huge->interval.low) return;
    const double share = (huge->Apart() - small->Apart()) * HugeShare(site_).value_or(0);
    double touched = 0;
    for (const CauseKind kind : {CauseKind::kTouchedElsewhere, CauseKind::kThreadMoved}) {
      for (const auto& [home, samples] : by_home_[IndexOf(kind)]) touched += samples;
    }
    if (touched <= 0) return;
    const double taken = std::min(1.0, share * static_cast<double>(use_.located) / touched);
    for (const CauseKind kind : {CauseKind::kTouchedElsewhere, CauseKind::kThreadMoved}) {
      for (auto& [home, samples] : by_home_[IndexOf(kind)]) {
        Add(CauseKind::kHugePage, home, samples * taken);
        samples *= 1 - taken;
      }
    }
  }

  // What is remote wherever the pages lie, since their threads wander: taken from the other causes
  // but those that a thread's place has nothing to do with.
  void TakeWandering() {
    constexpr std::array<CauseKind, 3> kOthers = {CauseKind::kTouchedElsewhere,
                                                  CauseKind::kPageMoved, CauseKind::kUnknown};
    const auto sum = [this](CauseKind kind) {
      double samples = 0;
      for (const auto& [home, some] : by_home_[IndexOf(kind)]) samples += some;
      return samples;
    };
    const double missing =
        static_cast<double>(WanderingOf(site_).samples) - sum(CauseKind::kThreadMoved);
    double others = 0;
    for (const CauseKind kind : kOthers) others += sum(kind);
    if (missing <= 0 || others <= 0) return;
    const double taken = std::min(1.0, missing / others);
    for (const CauseKind kind : kOthers) {
      for (auto& [home, samples] : by_home_[IndexOf(kind)]) {
        Add(CauseKind::kThreadMoved, home, samples * taken);
        samples *= 1 - taken;
      }
    }
  }

  // Whole samples that add up: the largest fractions are rounded up.
  std::vector<Cause> Rounded() const {
    std::vector<std::pair<double, Cause>> rows;
    uint64_t given = 0;
    for (size_t i = 0; i < kKinds; ++i) {
      Cause cause;
      cause.kind = static_cast<CauseKind>(i);
      double sum = 0;
      double most = 0;
      for (const auto& [home, samples] : by_home_[i]) {
        sum += samples;
        if (samples <= most) continue;
        most = samples;
        cause.home = home;
      }
      const double whole = std::floor(std::clamp(sum + 1e-6, 0.0, 1e18));
      cause.samples = static_cast<uint64_t>(whole);
      given += cause.samples;
      rows.emplace_back(sum - whole, cause);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& row : rows) {
      if (given >= site_.remote_samples) break;
      ++row.second.samples;
      ++given;
    }
    return Ranked(rows);
  }

  std::vector<Cause> Ranked(const std::vector<std::pair<double, Cause>>& rows) const {
    std::vector<Cause> causes;
    for (const auto& row : rows) {
      if (row.second.samples == 0) continue;
      causes.push_back(row.second);
      causes.back().share =
          WilsonInterval(row.second.samples, site_.remote_samples, site_.design_effect);
    }
    std::stable_sort(causes.begin(), causes.end(),
                     [](const Cause& a, const Cause& b) { return a.samples > b.samples; });
    return causes;
  }

  const View& view_;
  const SiteView& site_;
  const SiteUse use_;
  const memagent::v1::Sharing* in_page_;
  std::map<int32_t, std::vector<const FirstTouch*>> touches_;
  std::map<int32_t, double> touched_;  // pages, by the node of the thread that touched them
  uint64_t all_faults_ = 0;
  double all_touched_ = 0;  // pages
  NodeSamples pages_;       // by the node that they lie on
  std::optional<bool> was_moved_;
  std::array<std::map<int32_t, double>, kKinds> by_home_;
};

}  // namespace

std::vector<Cause> CausesOf(const View& view, const SiteView& site) {
  if (site.remote_samples == 0) return {};
  return Finder(view, site).Run();
}

uint64_t SamplesOf(const std::vector<Cause>& causes, CauseKind kind) {
  for (const Cause& cause : causes) {
    if (cause.kind == kind) return cause.samples;
  }
  return 0;
}

std::string_view CausePhrase(CauseKind kind) {
  switch (kind) {
    case CauseKind::kTouchedElsewhere:
      return "first touched on another node";
    case CauseKind::kThreadMoved:
      return "its thread moved after the touch";
    case CauseKind::kPageMoved:
      return "the page was moved";
    case CauseKind::kPolicy:
      return "a memory policy put it there";
    case CauseKind::kNodeFull:
      return "the node was full";
    case CauseKind::kHugePage:
      return "a huge page shared by several nodes";
    case CauseKind::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view CauseKey(CauseKind kind) {
  constexpr std::array<std::string_view, kKinds> kKeys = {
      "touched_elsewhere", "thread_moved", "page_moved", "policy",
      "node_full",         "huge_page",    "unknown"};
  return kKeys[IndexOf(kind)];
}

}  // namespace memagent::viewer
