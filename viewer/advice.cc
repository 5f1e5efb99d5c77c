#include "viewer/advice.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "viewer/advice_order.h"
#include "viewer/advice_placement.h"
#include "viewer/concat.h"
#include "viewer/line_sharing.h"
#include "viewer/nodes.h"
#include "viewer/shared_use.h"
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
// Who touches first is changed in the program's source: it has to leave no more of the remote
// share.
constexpr double kWorthAChange = 0.75;
// Interleaving what one thread filled makes some more of it remote: the filling was near.
constexpr double kStillWorthTrying = 0.05;
// Interleaving spreads the load on memory controllers; this much more remote access it may cost.
constexpr double kSpreadCost = 0.2;
// Of the pages touched first: then one node filled all of it.
constexpr double kFilledByOne = 0.9;
// Of the sampled pages: so many huge ones make 2 MiB the unit that is touched at once.
constexpr double kMostlyHuge = 0.5;

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
    for (Advice& advice : result_.advice) FinishRule(advice);
    PutBestFirst(result_.advice, result_.now);
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
    if (IsMuch(CauseKind::kNodeFull)) {
      SayIfNothingElse(
          "the node that uses it had no free memory: make room there, or spread the threads");
    } else {
      AdviseByPattern();
    }
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

  void SayIfNothingElse(std::string reason) {
    if (result_.advice.empty()) Say(AdviceKind::kNothing, std::move(reason));
  }

  // Adds advice with what it is predicted to do.
  Advice& Predict(AdviceKind kind, std::string reason, const Prediction& after) {
    Advice advice;
    advice.kind = kind;
    advice.reason = std::move(reason);
    advice.after = after;
    advice.gain = GainOf(view_, site_, result_.now, after);
    result_.advice.push_back(std::move(advice));
    return result_.advice.back();
  }

  bool Helps(const Prediction& after) const { return IsBetter(result_.now, after); }

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
    if (IsMuch(CauseKind::kHugePage)) AdviseSmallPages();
    if (!IsMuch(CauseKind::kThreadMoved)) return;
    const Prediction after = Without(site_, SamplesOf(result_.causes, CauseKind::kThreadMoved));
    if (!Helps(after)) return;
    Predict(AdviceKind::kPinThreads, "they change their nodes, and its pages stay where they are",
            after);
  }

  // Small pages help when those who use a part touch it first. Where one node touched all of it,
  // the profile can't tell whether it would touch all small pages, too, and nothing be gained.
  void AdviseSmallPages() {
    Prediction after = Without(site_, SamplesOf(result_.causes, CauseKind::kHugePage));
    if (!Helps(after)) return;
    std::string reason = "its huge pages hold what several nodes use";
    if (IsFilledByOneNode()) {
      after.interval.high = std::max(after.interval.high, result_.now.remote);
      reason += "; it helps if each thread touches its own part first";
    }
    Predict(AdviceKind::kSmallPages, std::move(reason), after);
  }

  bool IsFilledByOneNode() const {
    NodeSamples pages;
    for (const FirstTouch& touch : site_.first_touch) pages[touch.cpu_node] += touch.pages;
    return Share(MostOf(pages).second, SumOf(pages)) >= kFilledByOne;
  }

  // --- patterns ---

  void AdviseByPattern() {
    switch (result_.pattern.kind) {
      case PatternKind::kOneOwner:
        return AdviseBinding(result_.pattern.why);
      case PatternKind::kOwnerOfEachBlock:
        if (IsMuch(CauseKind::kThreadMoved)) return;  // its user touches it, and goes elsewhere
        return AdviseTouch(AdviceKind::kTouchByUser, BlockMixing());
      case PatternKind::kBlocked:
        AdviseBlocks();
        return AdviseTouch(AdviceKind::kTouchInParallel, TouchMixing());
      case PatternKind::kCyclic:
        return AdviseTouch(AdviceKind::kTouchInParallel, TouchMixing());
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
    // Each thread has a stack of its own: no node is the right one for all.
    if (site_.kind == "stack" || site_.kind == "tls") return;
    const int32_t node = BestNode(view_, site_, use_);
    if (node >= 0) AdviseBinding(MostlyText(node));
  }

  std::string MostlyText(int32_t node) const {
    return Concat(NodeText(node), " makes ", Percent(Share(use_.Of(node), use_.located)),
                  " of the accesses");
  }

  void AdviseBinding(std::string reason) {
    const int32_t node = BestNode(view_, site_, use_);
    if (node < 0) return SayIfNothingElse("no node that uses it has room for all of it");
    const Prediction after = BoundTo(view_, site_, use_, node);
    if (!Helps(after)) return;
    Predict(AdviceKind::kBind, std::move(reason), after).nodes = {node};
  }

  void AdviseBlocks() {
    const std::vector<int32_t> parts = BestParts(strip_);
    if (parts.size() == 1) return AdviseBinding(MostlyText(parts.front()));
    const Prediction after = BlockedOver(view_, site_, strip_, parts);
    const bool possible = std::all_of(parts.begin(), parts.end(), [&](int32_t node) {
      return HasCpus(view_, node) && HasMemory(view_, node);
    });
    if (!possible || !Helps(after)) return;
    Predict(AdviceKind::kBlock, "each node uses its own part of it", after).nodes = parts;
  }

  // What the first touch of a page places.
  std::optional<Mixing> TouchMixing() const {
    const bool huge = HugeShare(site_).value_or(0) >= kMostlyHuge;
    return huge ? MixingInHugePages(site_, use_) : MixingIn(site_, use_, kPageUnit);
  }

  // Of blocks, or of pages where these are larger: then blocks of several users lie in one.
  std::optional<Mixing> BlockMixing() const {
    const auto blocks = MixingIn(site_, use_, kBlockUnit);
    const auto pages = TouchMixing();
    return blocks && pages && pages->Apart() > blocks->Apart() ? pages : blocks;
  }

  // Only where page faults tell who touches it now.
  void AdviseTouch(AdviceKind kind, const std::optional<Mixing>& mixing) {
    if (!mixing || site_.first_touch.empty()) return;
    const Prediction after = UnitsByUser(*mixing);
    if (!Helps(after) || after.remote > kWorthAChange * result_.now.remote) return;
    const std::string_view what = kind == AdviceKind::kTouchByUser
                                      ? "each block has one user"
                                      : "each page is used by one node";
    Predict(kind, std::string(what), after).where = site_.first_touch.front().where;
  }

  void AdviseConsumer() {
    const int32_t node = BestNode(view_, site_, use_);
    if (node >= 0 && node != result_.pattern.node) {
      AdviseBinding(
          Concat("it is filled on ", NodeText(result_.pattern.node), ", and ", MostlyText(node)));
    }
    SayIfNothingElse(
        "it is written on one node and used on others: one side is remote wherever it lies; let "
        "each reader copy it once, or keep both on one node");
  }

  void AdviseReplicas() {
    Prediction after;
    after.interval = {0, WilsonInterval(use_.stores, use_.located, site_.design_effect).high};
    after.remote = std::min(after.interval.high, Share(use_.stores, use_.located));
    if (Helps(after)) {
      Predict(AdviceKind::kReplicate, "all nodes read all of it: if it is not written once filled",
              after);
    }
  }

  // Shared by all: one node for it, or all in turn.
  void AdviseShared() {
    const std::vector<int32_t> users = UsersOf(view_, use_.by_node);
    const int32_t best = BestNode(view_, site_, use_);
    const Prediction spread = InterleavedOver(view_, site_, use_, users);
    if (best >= 0) {
      const Prediction bound = BoundTo(view_, site_, use_, best);
      if (Weighed(bound) < Weighed(spread) - kSpreadCost) return AdviseBinding(MostlyText(best));
    }
    const uint64_t most = MostOf(use_.by_home).second;
    if (users.size() < 2) return;
    if (Share(most, use_.located) < ConcentratedShare(users.size())) {
      return SayIfNothingElse(
          "all nodes use all of it, and its pages are spread over several nodes already");
    }
    Advice& advice =
        Predict(AdviceKind::kInterleave,
                "all nodes use all of it, and one node's memory serves them all", spread);
    advice.nodes = users;
    // What is gained then, that several nodes serve it, has no number.
    if (!Helps(spread)) advice.gain.reset();
  }

  // Remote accesses by how far they go, against those of now.
  double Weighed(const Prediction& after) const {
    return after.remote * RelativeDistance(result_.now, after);
  }

  // --- rules for memagent run --place ---

  // What may leave more accesses remote than there are now is for people to decide.
  void FinishRule(Advice& advice) const {
    const double most = result_.now.interval.high + kStillWorthTrying;
    const bool worse = advice.after && advice.after->interval.low > most;
    if (!worse) advice.rule = PlacementOf(view_, site_, advice);
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
