#include "viewer/pattern.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "viewer/concat.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

// Of the accesses that an owner makes; the lower end of their interval.
constexpr double kOwnerShare = 0.95;
constexpr double kSureOwnerShare = 0.85;
// Of first touches, or of stores, that the producer makes; of accesses that others make.
constexpr double kProducerShare = 0.9;
constexpr double kConsumerShare = 0.5;
constexpr double kOneOfMany = 0.05;  // of the first touches: less makes a thread no producer
// Blocks that come and go: fewer may have been filled once and then kept.
constexpr uint64_t kManyBlocks = 8;
// Of accesses: stores that the first filling of a table may leave, and those by others than who
// filled it that may be errors of the sampling.
constexpr double kFillingStores = 0.1;
constexpr double kStrayStores = 0.005;

class Classifier {
 public:
  Classifier(const View& view, const SiteView& site)
      : view_(view), site_(site), use_(UseOf(site)), strip_(StripOf(site)) {}

  Pattern Run() const {
    if (!view_.HasRemote()) return Unknown("the machine has one NUMA node");
    if (static_cast<double>(use_.located) < kWeakSamples * site_.design_effect) {
      return Unknown(Concat("only ", Plural(use_.located, "sample"), " could be located"));
    }
    if (auto pattern = ProducerConsumer()) return *pattern;
    if (auto pattern = OneOwner()) return *pattern;
    if (auto pattern = OwnParts()) return *pattern;
    if (auto pattern = Shared()) return *pattern;
    return Unknown(WhyUnclear());
  }

 private:
  static Pattern Unknown(std::string why) { return {PatternKind::kUnknown, -1, std::move(why)}; }

  static bool IsMost(uint64_t part, uint64_t whole, double share) {
    return whole > 0 && Share(part, whole) >= share;
  }
  bool IsSurely(uint64_t part, uint64_t whole, double share) const {
    return whole > 0 && WilsonInterval(part, whole, site_.design_effect).low >= share;
  }

  // --- producer and consumer ---

  // The node where nearly all pages were touched first, by threads that make less than half of the
  // accesses; -1 when there is none.
  int32_t TouchingNode() const {
    NodeSamples pages;
    std::map<uint32_t, uint64_t> touchers;
    for (const FirstTouch& touch : site_.first_touch) {
      pages[touch.cpu_node] += touch.pages;
      touchers[touch.thread] += touch.pages;
    }
    const auto [node, most_pages] = MostOf(pages);
    const uint64_t all = SumOf(pages);
    uint64_t theirs = 0;
    for (const auto& [thread, samples] : use_.by_thread) {
      const auto toucher = touchers.find(thread);
      const bool much = toucher != touchers.end() && Share(toucher->second, all) >= kOneOfMany;
      if (much) theirs += samples;
    }
    const bool most = node >= 0 && most_pages > 0 && IsMost(most_pages, all, kProducerShare);
    return most && Share(theirs, use_.located) < kConsumerShare ? node : -1;
  }

  // Nearly all stores come from one node, and they are more than a table's first filling.
  int32_t WritingNode() const {
    const auto [node, stores] = MostOf(use_.stores_by_node);
    const bool many = IsSurely(use_.stores, use_.located, kFillingStores);
    const auto in_page = MixingIn(site_, use_, kPageUnit);
    // Who filled an array that each node then uses a part of is no producer.
    if (in_page && in_page->IsOwn()) return -1;
    return many && IsMost(stores, use_.stores, kProducerShare) ? node : -1;
  }

  // Without stores told: each block is filled by one thread, used by others and freed. With them:
  // one node writes, the others read, be it one block again and again.
  std::optional<Pattern> ProducerConsumer() const {
    const bool turn_over = site_.allocations >= kManyBlocks && 2 * site_.frees >= site_.allocations;
    const int32_t writer = view_.knows_stores ? WritingNode() : -1;
    const int32_t node = writer >= 0 ? writer : (turn_over ? TouchingNode() : -1);
    if (node < 0) return std::nullopt;
    const uint64_t others = use_.located - std::min(use_.located, use_.Of(node));
    if (!IsSurely(others, use_.located, kConsumerShare / 2)) return std::nullopt;
    if (!IsMost(others, use_.located, kConsumerShare)) return std::nullopt;
    // Others that write, too, are no mere readers.
    if (writer < 0 && view_.knows_stores && use_.stores > 0 &&
        MostOf(use_.stores_by_node).first != node) {
      return std::nullopt;
    }
    const std::string does = writer >= 0 ? " writes it" : " touches each block first";
    return Pattern{PatternKind::kProducerConsumer, node,
                   Concat(NodeText(node), does, ", other nodes make ",
                          Percent(Share(others, use_.located)), " of the accesses")};
  }

  // --- owners ---

  std::optional<Pattern> OneOwner() const {
    const auto [node, samples] = MostOf(use_.by_node);
    if (IsMost(samples, use_.located, kOwnerShare) &&
        IsSurely(samples, use_.located, kSureOwnerShare)) {
      return Pattern{PatternKind::kOneOwner, node,
                     Concat(NodeText(node), " makes ", Percent(Share(samples, use_.located)),
                            " of the accesses")};
    }
    const auto in_block = MixingIn(site_, use_, kBlockUnit);
    // Of stacks and thread-local memory each thread has one; there are no allocations to count.
    const bool several = site_.allocations > 1 || site_.kind == "stack" || site_.kind == "tls";
    if (several && in_block && in_block->IsOwn()) {
      return Pattern{PatternKind::kOwnerOfEachBlock, -1, PairsText("block", *in_block)};
    }
    return std::nullopt;
  }

  // "two accesses in one page come from two nodes in 1.2 % (by chance 50.0 %)"
  static std::string PairsText(std::string_view unit, const Mixing& mixing) {
    return Concat("two accesses in one ", unit, " come from two nodes in ", Percent(mixing.Apart()),
                  ", by chance it would be ", Percent(mixing.chance));
  }

  // --- pages that are used by one node each ---

  std::optional<Pattern> OwnParts() const {
    const auto in_page = MixingIn(site_, use_, kPageUnit);
    const auto in_part = MixingInStrip(strip_, use_, site_.design_effect);
    if (in_part && in_part->IsOwn() && !(in_page && in_page->IsShared())) {
      return Pattern{PatternKind::kBlocked, -1, PairsText("64th of it", *in_part)};
    }
    if (in_page && in_page->IsOwn() && in_part && in_part->IsShared()) {
      return Pattern{PatternKind::kCyclic, -1,
                     Concat(PairsText("page", *in_page), "; in one 64th of it in ",
                            Percent(in_part->Apart()))};
    }
    return std::nullopt;
  }

  // --- pages that several nodes use ---

  std::optional<Pattern> Shared() const {
    const auto in_page = MixingIn(site_, use_, kPageUnit);
    if (!in_page || !in_page->IsShared()) return std::nullopt;
    const std::string pairs = PairsText("page", *in_page);
    if (!TellsEveryStore()) {
      return Pattern{PatternKind::kShared, -1, Concat(pairs, "; stores are not told apart")};
    }
    const std::string stores = Concat("; ", Percent(Share(use_.stores, use_.located)), " stores");
    const PatternKind kind = SharedKind();
    if (kind != PatternKind::kShared) return Pattern{kind, -1, pairs + stores};
    return Pattern{kind, -1, Concat(pairs, stores, ", too few samples to tell who makes them")};
  }

  // A store that the software engine sees is one, but its clock seldom ticks at any.
  bool TellsEveryStore() const {
    return view_.engine_record && view_.engine_record->knows_loads_and_stores();
  }

  // Nobody but who filled it once writes; surely somebody does; or neither is sure.
  PatternKind SharedKind() const {
    const uint64_t others = use_.stores - std::min(use_.stores, StoresOfFillers());
    const Interval all = WilsonInterval(use_.stores, use_.located, site_.design_effect);
    const Interval later = WilsonInterval(others, use_.located, site_.design_effect);
    if (all.high < kFillingStores && later.high < kStrayStores) return PatternKind::kSharedRead;
    const bool written = all.low >= kFillingStores || later.low >= kStrayStores;
    return written ? PatternKind::kSharedWritten : PatternKind::kShared;
  }

  // Those by threads that touched it first, where nearly all of it was touched on one node. Where
  // threads of several nodes did, their stores may be of then or of later.
  uint64_t StoresOfFillers() const {
    NodeSamples pages;
    std::map<uint32_t, uint64_t> touchers;
    for (const FirstTouch& touch : site_.first_touch) {
      pages[touch.cpu_node] += touch.pages;
      touchers[touch.thread] += touch.pages;
    }
    const uint64_t all = SumOf(pages);
    const auto [node, most] = MostOf(pages);
    if (node < 0 || !IsMost(most, all, kProducerShare)) return 0;
    uint64_t stores = 0;
    for (const Use& use : site_.uses) {
      const auto toucher = touchers.find(use.thread);
      if (!use.IsLocated() || toucher == touchers.end()) continue;
      if (Share(toucher->second, all) >= kOneOfMany) stores += use.stores;
    }
    return stores;
  }

  std::string WhyUnclear() const {
    const auto in_page = MixingIn(site_, use_, kPageUnit);
    if (!in_page) return "the profile does not tell who shared which page";
    if (in_page->pairs < kWeakSamples) {
      return Concat("only ", Plural(in_page->pairs, "pair"), " of samples met in one page");
    }
    if (in_page->IsOwn())
      return Concat(PairsText("page", *in_page), ", and nothing tells of larger parts");
    return Concat(PairsText("page", *in_page), ": neither apart nor shared");
  }

  const View& view_;
  const SiteView& site_;
  const SiteUse use_;
  const Strip strip_;
};

}  // namespace

Pattern PatternOf(const View& view, const SiteView& site) { return Classifier(view, site).Run(); }

std::string_view PatternWord(PatternKind kind) {
  switch (kind) {
    case PatternKind::kOneOwner:
      return "one owner";
    case PatternKind::kOwnerOfEachBlock:
      return "one owner of each block";
    case PatternKind::kBlocked:
      return "blocked";
    case PatternKind::kCyclic:
      return "cyclic";
    case PatternKind::kShared:
      return "all-shared";
    case PatternKind::kSharedRead:
      return "all-shared, read";
    case PatternKind::kSharedWritten:
      return "all-shared, written";
    case PatternKind::kProducerConsumer:
      return "producer and consumer";
    case PatternKind::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace memagent::viewer
