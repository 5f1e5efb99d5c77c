#include "viewer/comparable.h"

#include <algorithm>
#include <iterator>
#include <map>
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

// What each thread did, in even shares of the work; least first.
std::vector<double> WorkOfThreads(const View& view) {
  const auto even =
      static_cast<double>(view.tally.MemorySamples()) / static_cast<double>(view.threads.size());
  std::vector<double> work;
  for (const ThreadView& thread : view.threads) {
    if (thread.id == 0 || even <= 0) continue;
    work.push_back(static_cast<double>(thread.tally.MemorySamples()) / even);
  }
  std::sort(work.begin(), work.end());
  return work;
}

// Threads that did more: a program may have any number of threads that hardly run.
size_t BusyThreads(const std::vector<double>& work, double more_than) {
  return static_cast<size_t>(work.end() - std::upper_bound(work.begin(), work.end(), more_than));
}

constexpr double kBusy = 0.25;

// Where the line between busy and idle is drawn is a matter of taste, and a thread near it is on
// either side by chance: the runs differ when no line in a wide band makes them equal.
bool HaveAsManyBusyThreads(const std::vector<double>& before, const std::vector<double>& after) {
  constexpr double kLeast = kBusy / 2;
  constexpr double kMost = kBusy * 2;
  std::vector<double> lines = {kLeast};
  for (const std::vector<double>* work : {&before, &after}) {
    std::copy_if(work->begin(), work->end(), std::back_inserter(lines),
                 [](double share) { return share > kLeast && share <= kMost; });
  }
  return std::any_of(lines.begin(), lines.end(), [&](double line) {
    return BusyThreads(before, line) == BusyThreads(after, line);
  });
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
    CompareThreads();
    return std::move(result_);
  }

 private:
  bool Differ(std::string_view what, const std::string& x, const std::string& y) {
    if (x == y) return false;
    result_.differences.push_back(Concat(what, " (", x, " / ", y, ")"));
    return true;
  }

  void CompareThreads() {
    const std::vector<double> before = WorkOfThreads(before_);
    const std::vector<double> after = WorkOfThreads(after_);
    result_.threads = HaveAsManyBusyThreads(before, after) ||
                      !Differ("busy threads", Concat(BusyThreads(before, kBusy)),
                              Concat(BusyThreads(after, kBusy)));
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

bool IsSameCode(const View& before, const View& after) {
  if (BuildId(before).empty() || BuildId(before) != BuildId(after)) return false;
  std::map<std::string_view, std::string_view> builds;
  for (const auto& module : before.profile.modules) {
    builds[before.profile.Text(module.path())] = module.build_id();
  }
  return std::all_of(after.profile.modules.begin(), after.profile.modules.end(),
                     [&](const memagent::v1::Module& module) {
                       const auto found = builds.find(after.profile.Text(module.path()));
                       return found == builds.end() || found->second == module.build_id();
                     });
}

}  // namespace memagent::viewer
