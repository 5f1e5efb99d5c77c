// The evidence of a cause, for people.
#include <map>
#include <set>

#include "viewer/cause.h"
#include "viewer/concat.h"
#include "viewer/placement_calls.h"
#include "viewer/site_use.h"
#include "viewer/text.h"
#include "viewer/wandering.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

using memagent::v1::PlacementCall;

class Evidence {
 public:
  Evidence(const View& view, const SiteView& site, const Cause& cause, const Terminal& terminal)
      : view_(view), site_(site), cause_(cause), terminal_(terminal) {}

  std::string Run() const {
    switch (cause_.kind) {
      case CauseKind::kTouchedElsewhere:
        return Touched();
      case CauseKind::kThreadMoved:
        return ThreadMoved();
      case CauseKind::kPageMoved:
        return PageMoved();
      case CauseKind::kPolicy:
        return Policy();
      case CauseKind::kNodeFull:
        return NodeFull();
      case CauseKind::kHugePage:
        return HugePage();
      case CauseKind::kUnknown:
        break;
    }
    return Unknown();
  }

 private:
  // "by stencil (4711) on node 0, Grid::fill grid.cc:44"
  std::string Touched() const {
    for (const FirstTouch& touch : site_.first_touch) {  // most pages first
      if (touch.cpu_node != cause_.home) continue;
      return Concat("by ", ThreadText(view_, touch.thread, terminal_), " on ",
                    NodeText(touch.cpu_node), ", ", CodeText(touch.where, terminal_), MayBeHuge());
    }
    return "";
  }

  // Where huge pages would be shared, and nothing tells whether there are any.
  std::string MayBeHuge() const {
    const SiteUse use = UseOf(site_);
    const auto small = MixingIn(site_, use, kPageUnit);
    const auto huge = MixingInHugePages(site_, use);
    if (HugeShare(site_) || !small || !huge) return "";
    if (small->interval.high >= huge->interval.low) return "";
    if (view_.profile.header.kernel().transparent_hugepage() == "never") return "";
    return "; perhaps by huge pages that several nodes share: the kernel does not tell which are";
  }

  // The thread with most remote accesses to pages that it touched itself.
  std::string ThreadMoved() const {
    std::set<uint32_t> touchers;
    for (const FirstTouch& touch : site_.first_touch) {
      if (touch.cpu_node == cause_.home) touchers.insert(touch.thread);
    }
    const Use* most = nullptr;
    for (const Use& use : site_.uses) {
      if (!use.IsRemote() || use.memory_node != cause_.home) continue;
      if (touchers.count(use.thread) == 0) continue;
      if (most == nullptr || use.samples > most->samples) most = &use;
    }
    if (most == nullptr) return Wanders();
    std::string text =
        Concat(ThreadText(view_, most->thread, terminal_), " touched it on ",
               NodeText(most->memory_node), " and uses it from ", NodeText(most->cpu_node));
    return Concat(text, ChangesText(most->thread));
  }

  // Who touched it first does not matter then, nor is it always known.
  std::string Wanders() const {
    const Wandering wandering = WanderingOf(site_);
    if (wandering.samples == 0) return "";
    return Concat("each thread has its own, and ", ThreadText(view_, wandering.thread, terminal_),
                  " ran on ", Plural(wandering.nodes, "node"), ChangesText(wandering.thread));
  }

  std::string ChangesText(uint32_t id) const {
    std::string text;
    const ThreadView* thread = view_.FindThread(id);
    if (thread != nullptr && thread->node_changes > 0) {
      text = Concat("; it changed its node ", Plural(thread->node_changes, "time"));
    }
    return text + CallsText(AffinityCalls(view_, id));
  }

  // "; sched_setaffinity called 2 times"
  static std::string CallsText(const std::vector<const PlacementCall*>& calls) {
    std::map<std::string, uint64_t> counts;
    for (const PlacementCall* call : calls) counts[call->call()] += call->calls();
    std::string text;
    for (const auto& [name, count] : counts) {
      Append(text, "; ", Printable(name, Charset::kAscii), " called ", Plural(count, "time"));
    }
    return text;
  }

  std::string PageMoved() const {
    std::string text =
        Concat("they lie on ", NodeText(cause_.home), ", where nobody touched them first");
    if (site_.pages_moved > 0) {
      Append(text, "; sampled pages were seen on another node than before ",
             Plural(site_.pages_moved, "time"));
    }
    text += CallsText(MovingCalls(view_, site_));
    if (view_.profile.numa_pages_migrated > 0) {
      Append(text, "; NUMA balancing moved ", Plural(view_.profile.numa_pages_migrated, "page"),
             " on this machine meanwhile");
    }
    return text;
  }

  std::string Policy() const {
    const memagent::v1::PolicyCount* policy = PolicyFor(site_, cause_.home);
    if (policy == nullptr) return "";
    uint64_t all = 0;
    for (const auto& each : site_.policies) all += each.pages();
    std::string text = Concat(Printable(policy->mode(), Charset::kAscii), " ");
    for (int i = 0; i < policy->node_size(); ++i) Append(text, i == 0 ? "" : ",", policy->node(i));
    Append(text, policy->of_thread() ? ", the thread's policy" : ", the mapping's policy", ", on ",
           Percent(Share(policy->pages(), all)), " of its pages");
    const auto calls = CallsFor(view_, site_,
                                policy->of_thread() ? std::vector<std::string_view>{"set_mempolicy"}
                                                    : std::vector<std::string_view>{"mbind"});
    if (!calls.empty()) return text + CallsText(calls);
    return policy->of_thread() ? text + "; it was in force from the start (numactl)" : text;
  }

  std::string NodeFull() const {
    uint64_t foreign = 0;
    std::string least;
    for (const auto& node : view_.profile.node_counters) {
      if (static_cast<int64_t>(node.node()) == cause_.home || node.foreign() == 0) continue;
      foreign += node.foreign();
      Append(least, "; node ", node.node(), " had as little as ",
             HumanBytes(node.least_free_bytes()), " free");
    }
    return Concat(Plural(foreign, "page"),
                  " that other nodes should have held were given elsewhere", " on this machine",
                  least);
  }

  std::string HugePage() const {
    const SiteUse use = UseOf(site_);
    const auto small = MixingIn(site_, use, kPageUnit);
    const auto huge = MixingInHugePages(site_, use);
    if (!small || !huge) return "";
    return Concat("two accesses in one 2 MiB come from two nodes in ", Percent(huge->Apart()),
                  ", in one 4 KiB in ", Percent(small->Apart()), "; ",
                  Percent(HugeShare(site_).value_or(0)), " of its pages are huge");
  }

  std::string Unknown() const {
    uint64_t faults = 0;
    for (const FirstTouch& touch : site_.first_touch) faults += touch.faults;
    if (faults > 0) {
      return Concat("they lie on ", NodeText(cause_.home),
                    ", where nobody touched them first, and nothing tells who moved them");
    }
    if (view_.IsImport()) return "the recording does not tell first touches";
    if (view_.engine_record && view_.engine_record->fault_period() == 0) {
      return "page faults were not sampled";
    }
    return "no page fault of it was sampled: its pages were there before, or few were new";
  }

  const View& view_;
  const SiteView& site_;
  const Cause& cause_;
  const Terminal& terminal_;
};

}  // namespace

std::string CauseEvidence(const View& view, const SiteView& site, const Cause& cause,
                          const Terminal& terminal) {
  return Evidence(view, site, cause, terminal).Run();
}

}  // namespace memagent::viewer
