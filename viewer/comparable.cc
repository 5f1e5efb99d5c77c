#include "viewer/comparable.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "viewer/concat.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

std::string PeriodText(const View& view) {
  if (!view.engine_record) return "none";
  return Concat(GroupedCount(view.engine_record->period()), " ", view.engine_record->period_unit());
}

std::string EventText(const View& view) {
  return view.engine_record ? view.engine_record->event() : "";
}

std::string UnitText(const View& view) {
  return view.engine_record ? view.engine_record->period_unit() : "";
}

std::string SamplingText(const View& view) {
  return view.IsSampled() ? HumanBytes(view.profile.economy.largest_sample_bytes()) : "none";
}

std::string ArgumentText(const View& view) {
  std::string text;
  const auto& arguments = view.profile.header.process().arguments();
  for (int i = 1; i < arguments.size(); ++i) Append(text, i > 1 ? " " : "", arguments.Get(i));
  return text;
}

std::string ProgramText(const View& view) {
  return std::string(BaseName(view.profile.header.process().executable()));
}

std::string DistanceText(const View& view) {
  std::string text;
  for (const uint32_t distance : view.profile.header.machine().distances()) {
    Append(text, text.empty() ? "" : " ", distance);
  }
  return text;
}

// CPUs by node: "0-1 2-3".
std::string CpuText(const View& view) {
  std::string text;
  for (const auto& node : view.profile.header.machine().nodes()) {
    Append(text, text.empty() ? "" : " ", node.cpu_list());
  }
  return text;
}

// Those that did a quarter of an even share of the work: a program may have any number of threads
// that hardly run.
std::string ThreadText(const View& view) {
  const auto even =
      static_cast<double>(view.tally.MemorySamples()) / static_cast<double>(view.threads.size());
  const auto busy =
      std::count_if(view.threads.begin(), view.threads.end(), [even](const ThreadView& thread) {
        return thread.id != 0 && static_cast<double>(thread.tally.MemorySamples()) > even / 4;
      });
  return Concat(busy);
}

class Comparison {
 public:
  Comparison(const View& before, const View& after) : before_(before), after_(after) {}

  Comparability Run() {
    CompareEngines();
    CompareMachines();
    Differ("sampling of blocks", SamplingText(before_), SamplingText(after_));
    Differ("program", ProgramText(before_), ProgramText(after_));
    Differ("arguments", ArgumentText(before_), ArgumentText(after_));
    result_.threads = !Differ("busy threads", ThreadText(before_), ThreadText(after_));
    return std::move(result_);
  }

 private:
  bool Differ(std::string_view what, const std::string& x, const std::string& y) {
    if (x == y) return false;
    result_.differences.push_back(Concat(what, " (", x, " / ", y, ")"));
    return true;
  }

  // A sample of a clock stands for time, one of loads for loads: their shares are of other things.
  void CompareEngines() {
    const bool other = Differ("engine", before_.engine, after_.engine) ||
                       Differ("event", EventText(before_), EventText(after_)) ||
                       Differ("unit of the period", UnitText(before_), UnitText(after_));
    if (!other) {
      Differ("period", PeriodText(before_), PeriodText(after_));
      return;
    }
    result_.shares = false;
    result_.left_out.push_back(
        "What samples tell is left out: one does not stand for the same in both runs.");
  }

  void CompareMachines() {
    bool other = Differ("number of nodes", Concat(before_.node_count), Concat(after_.node_count));
    other = other || Differ("distances", DistanceText(before_), DistanceText(after_));
    other = other || Differ("CPUs of the nodes", CpuText(before_), CpuText(after_));
    if (other) {
      result_.nodes = false;
      result_.left_out.push_back(
          "Remote shares and pages are left out: the machines' nodes are not the same.");
    }
    if (Differ("CPU model", before_.profile.header.machine().cpu_model(),
               after_.profile.header.machine().cpu_model())) {
      result_.times = false;
      result_.left_out.push_back("Times and cycles are left out: the CPUs are not the same.");
    }
  }

  const View& before_;
  const View& after_;
  Comparability result_;
};

void AddNew(std::vector<std::string>& all, const std::vector<std::string>& more) {
  for (const std::string& text : more) {
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  }
}

}  // namespace

void Comparability::Add(const Comparability& other) {
  AddNew(differences, other.differences);
  AddNew(left_out, other.left_out);
  shares = shares && other.shares;
  times = times && other.times;
  nodes = nodes && other.nodes;
  threads = threads && other.threads;
}

Comparability CompareSettings(const View& before, const View& after) {
  return Comparison(before, after).Run();
}

std::string BuildId(const View& view) {
  const std::string& executable = view.profile.header.process().executable();
  for (const auto& module : view.profile.modules) {
    if (view.profile.Text(module.path()) == executable) return module.build_id();
  }
  return "";
}

}  // namespace memagent::viewer
