#include "viewer/advice.h"

#include <algorithm>
#include <array>
#include <utility>

#include "viewer/concat.h"
#include "viewer/line_sharing.h"
#include "viewer/nodes.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

// Less of a site's accesses, or of all memory samples, is not worth a change: the upper ends of the
// intervals.
constexpr double kLittleRemote = 0.05;
constexpr double kLittleOfAll = 0.005;
// Of the remote samples: a cause that surely makes so many is acted on.
constexpr double kMuchOfRemote = 0.3;
// A node that uses less of a shared site gets none of its pages.
constexpr double kUserShare = 0.05;
// Interleaving spreads the load on memory controllers; this much more remote access it may cost.
constexpr double kSpreadCost = 0.2;
// Pages are concentrated when one node has so many times its even share.
constexpr double kConcentrated = 1.5;
// Smaller heap blocks are not placed by rules: their pages are shared with others
// (ledger::kLargeBlock).
constexpr uint64_t kSmallestPlaced = uint64_t{16} << 10;

class Adviser {
 public:
  Adviser(const View& view, const SiteView& site)
      : view_(view), site_(site), use_(UseOf(site)), strip_(StripOf(site)) {}

  Diagnosis Run() {
    result_.now = AsItIs(view_, site_);
    result_.pattern = PatternOf(view_, site_);
    result_.causes = CausesOf(view_, site_);
    AdvisePadding();
    AdvisePlacement();
    return std::move(result_);
  }

 private:
  // --- what is not worth a placement ---

  void AdvisePlacement() {
    if (!view_.HasRemote()) {
      return Say(AdviceKind::kOneNode, "the machine has one NUMA node: no placement can help here");
    }
    if (static_cast<double>(site_.located_samples) < kWeakSamples * site_.design_effect) {
      return Say(AdviceKind::kTooFewSamples,
                 Concat("only ", Plural(site_.located_samples, "sample"),
                        " could be located, advice takes ", kWeakSamples));
    }
    const Interval of_all =
        WilsonInterval(site_.remote_samples, view_.tally.MemorySamples(), site_.design_effect);
    if (result_.now.interval.high < kLittleRemote || of_all.high < kLittleOfAll) {
      return Say(AdviceKind::kNothing,
                 site_.remote_samples == 0
                     ? "none of its accesses is remote"
                     : Concat("only ", Percent(result_.now.remote), " of its accesses are remote, ",
                              Percent(Share(site_.remote_samples, view_.tally.MemorySamples())),
                              " of all memory samples"));
    }
    AdviseByCause();
    AdviseByPattern();
    if (result_.advice.empty()) Say(AdviceKind::kNothing, WhyNothing());
  }

  std::string WhyNothing() const {
    if (result_.pattern.kind == PatternKind::kUnknown) {
      return Concat(
          "no single node would surely be better, and which part each node uses is not known: ",
          result_.pattern.why);
    }
    return "no placement would surely make fewer of its accesses remote";
  }

  void Say(AdviceKind kind, std::string reason) {
    Advice advice;
    advice.kind = kind;
    advice.reason = std::move(reason);
    result_.advice.push_back(std::move(advice));
  }

  // Adds advice with what it is predicted to do.
  Advice& Predict(AdviceKind kind, std::string reason, const Prediction& after) {
    Advice advice;
    advice.kind = kind;
    advice.reason = std::move(reason);
    advice.after = after;
    advice.gain = GainOf(view_, site_, after);
    result_.advice.push_back(std::move(advice));
    return result_.advice.back();
  }

  // Sure to be less than now.
  bool IsBetter(const Prediction& after) const {
    return after.interval.high < result_.now.interval.low;
  }

  // --- lines ---

  void AdvisePadding() {
    const LineSharing lines = LineSharingOf(view_, site_);
    if (lines.kind != LineSharing::Kind::kFalse || site_.IsWeak()) return;
    Advice advice;
    advice.kind = AdviceKind::kPadLines;
    advice.reason =
        Concat("threads write words of their own in one cache line: ", Percent(lines.apart), " of ",
               Plural(lines.pairs, "pair"), " of accesses to a line come from two threads, ",
               Percent(lines.own_words), " to a word that one thread uses");
    Gain gain;
    gain.share = site_.share * lines.apart;
    gain.interval = {site_.share_interval.low * lines.interval.low,
                     site_.share_interval.high * lines.interval.high};
    advice.gain = gain;
    result_.advice.push_back(std::move(advice));
  }

  // --- causes that have a cure of their own ---

  bool IsMuch(CauseKind kind) const {
    return std::any_of(result_.causes.begin(), result_.causes.end(), [kind](const Cause& cause) {
      return cause.kind == kind && cause.share.low > kMuchOfRemote;
    });
  }

  void AdviseByCause() {
    if (IsMuch(CauseKind::kHugePage)) {
      Advice& advice =
          Predict(AdviceKind::kSmallPages, "its huge pages hold what several nodes use",
                  Without(site_, SamplesOf(result_.causes, CauseKind::kHugePage)));
      SetRule(advice, "nohuge");
    }
    if (IsMuch(CauseKind::kThreadMoved)) {
      Predict(AdviceKind::kPinThreads,
              "they touched its pages on one node and use them from another",
              Without(site_, SamplesOf(result_.causes, CauseKind::kThreadMoved)));
    }
  }

  // --- patterns ---

  void AdviseByPattern() {
    switch (result_.pattern.kind) {
      case PatternKind::kOneOwner:
        return AdviseBinding(result_.pattern.why);
      case PatternKind::kOwnerOfEachBlock:
        return AdviseTouch(AdviceKind::kTouchByUser, kBlockUnit);
      case PatternKind::kBlocked:
        AdviseBlocks();
        return AdviseTouch(AdviceKind::kTouchInParallel, kPageUnit);
      case PatternKind::kCyclic:
        return AdviseTouch(AdviceKind::kTouchInParallel, kPageUnit);
      case PatternKind::kProducerConsumer:
        return AdviseConsumer();
      case PatternKind::kSharedRead:
        AdviseReplicas();
        return AdviseShared();
      case PatternKind::kShared:
      case PatternKind::kSharedWritten:
        return AdviseShared();
      case PatternKind::kUnknown:
        break;
    }
    const int32_t node = BestNode(view_, site_);
    if (node >= 0) AdviseBinding(MostlyText(node));
  }

  std::string MostlyText(int32_t node) const {
    return Concat(NodeText(node), " makes ", Percent(Share(use_.Of(node), use_.located)),
                  " of the accesses");
  }

  void AdviseBinding(std::string reason) {
    const int32_t node = BestNode(view_, site_);
    if (node < 0) return Say(AdviceKind::kNothing, "no node that uses it has room for all of it");
    const Prediction after = BoundTo(view_, site_, node);
    if (!IsBetter(after)) return;
    Advice& advice = Predict(AdviceKind::kBind, std::move(reason), after);
    advice.nodes = {node};
    SetRule(advice, Concat("bind:", node));
  }

  void AdviseBlocks() {
    const std::vector<int32_t> parts = BestParts(strip_);
    if (parts.size() == 1) return AdviseBinding(MostlyText(parts.front()));
    const Prediction after = BlockedOver(view_, site_, strip_, parts);
    const bool on_cpus =
        std::all_of(parts.begin(), parts.end(), [&](int32_t node) { return HasCpus(view_, node); });
    if (!on_cpus || !IsBetter(after)) return;
    Advice& advice = Predict(AdviceKind::kBlock, "each node uses its own part of it", after);
    advice.nodes = parts;
    SetRule(advice, WithNodes("block", parts));
  }

  // Only where page faults tell who touches it now.
  void AdviseTouch(AdviceKind kind, uint64_t unit) {
    const auto mixing = MixingIn(site_, use_, unit);
    if (!mixing || site_.first_touch.empty()) return;
    const Prediction after = UnitsByUser(*mixing);
    if (!IsBetter(after)) return;
    const std::string_view what =
        unit == kBlockUnit ? "each block has one user" : "each page is used by one node";
    Advice& advice = Predict(kind, std::string(what), after);
    advice.where = site_.first_touch.front().where;
  }

  void AdviseConsumer() {
    const int32_t node = BestNode(view_, site_);
    if (node >= 0 && node != result_.pattern.node) {
      AdviseBinding(
          Concat("it is filled on ", NodeText(result_.pattern.node), ", and ", MostlyText(node)));
    }
    if (result_.advice.empty()) {
      Say(AdviceKind::kNothing,
          "it is written on one node and used on others: one side is remote wherever it lies; let "
          "each reader copy it once, or keep both on one node");
    }
  }

  void AdviseReplicas() {
    Prediction after;
    after.interval = {0, WilsonInterval(use_.stores, use_.located, site_.design_effect).high};
    after.remote = std::min(after.interval.high, Share(use_.stores, use_.located));
    if (IsBetter(after)) {
      Predict(AdviceKind::kReplicate, "all nodes read all of it and none writes it later", after);
    }
  }

  // Shared by all: one node for it, or all in turn.
  void AdviseShared() {
    std::vector<int32_t> users;
    for (const auto& [node, samples] : use_.by_node) {
      if (Share(samples, use_.located) >= kUserShare && HasCpus(view_, node)) users.push_back(node);
    }
    const int32_t best = BestNode(view_, site_);
    const Prediction spread = InterleavedOver(view_, site_, users);
    if (best >= 0 && BoundTo(view_, site_, best).remote < spread.remote - kSpreadCost) {
      return AdviseBinding(MostlyText(best));
    }
    const uint64_t most = MostOf(use_.by_home).second;
    const double even = 1.0 / static_cast<double>(std::max<size_t>(1, users.size()));
    if (users.size() < 2) return;
    if (Share(most, use_.located) < std::min(0.99, kConcentrated * even)) {
      if (!result_.advice.empty()) return;
      return Say(AdviceKind::kNothing,
                 "all nodes use all of it, and its pages are spread over several nodes already");
    }
    Advice& advice =
        Predict(AdviceKind::kInterleave,
                "all nodes use all of it, and one node's memory serves them all", spread);
    advice.nodes = users;
    SetRule(advice, WithNodes("interleave", users));
  }

  // --- rules for memagent run --place ---

  void SetRule(Advice& advice, std::string rule) const {
    if (site_.kind != "heap" && site_.kind != "mmap") return;
    const uint64_t blocks = std::max<uint64_t>(1, site_.allocations);
    if (site_.kind == "heap" && site_.bytes_allocated / blocks < kSmallestPlaced) return;
    if (site_.stack.empty()) return;
    advice.rule = std::move(rule);
  }

  // "block:0+1"; all nodes of the machine in their order need no list.
  std::string WithNodes(std::string_view word, const std::vector<int32_t>& nodes) const {
    std::vector<int32_t> all;
    for (const auto& node : view_.profile.header.machine().nodes()) {
      all.push_back(static_cast<int32_t>(node.id()));
    }
    if (nodes == all) return std::string(word);
    std::string text = Concat(word, ":");
    for (size_t i = 0; i < nodes.size(); ++i) Append(text, i == 0 ? "" : "+", nodes[i]);
    return text;
  }

  const View& view_;
  const SiteView& site_;
  const SiteUse use_;
  const Strip strip_;
  Diagnosis result_;
};

}  // namespace

Diagnosis Diagnose(const View& view, const SiteView& site) { return Adviser(view, site).Run(); }

std::string_view AdviceKey(AdviceKind kind) {
  constexpr std::array<std::string_view, 12> kKeys = {
      "too_few_samples",   "one_node",      "nothing",   "bind",        "interleave",  "block",
      "touch_in_parallel", "touch_by_user", "replicate", "pin_threads", "small_pages", "pad_lines"};
  return kKeys[static_cast<size_t>(kind)];
}

}  // namespace memagent::viewer
