#include "viewer/info_text.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>
#include <vector>

#include "agent/profile/reader_placement.h"
#include "viewer/concat.h"
#include "viewer/own_cost_text.h"
#include "viewer/placement_timeline.h"
#include "viewer/quality.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

constexpr size_t kLabel = 16;
constexpr size_t kMostCalls = 12;
constexpr size_t kMostThreads = 20;  // all of them are in --format json

std::string UtcTime(uint64_t unix_nanos) {
  const auto seconds = static_cast<std::time_t>(unix_nanos / 1'000'000'000);
  std::tm parts = {};
  std::array<char, 64> text = {};
  if (gmtime_r(&seconds, &parts) == nullptr) return "unknown";
  const size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return std::string(text.data(), length);
}

std::string ReasonText(const ReasonCount& reason, const Terminal& terminal) {
  return Concat(GroupedCount(reason.count), " ", terminal.Safe(reason.name),
                reason.meaning.empty() ? "" : ": ", reason.meaning);
}

class Info {
 public:
  Info(const View& view, const Terminal& terminal)
      : view_(view), header_(view.profile.header), terminal_(terminal) {}

  std::string Run() {
    AddProcess();
    AddMachine();
    AddEngines();
    AddPlacements();
    AddPlacementCalls();
    AddAccounting();
    AddThreads();
    AddOwnCost();
    AddEvents();
    AddFile();
    return std::move(text_);
  }

 private:
  void Section(std::string_view title) {
    Append(text_, text_.empty() ? "" : "\n", terminal_.Paint(title, Ink::kBold), "\n");
  }

  // One labelled line; nothing at all for an empty value.
  void Line(std::string_view label, std::string_view value) {
    if (value.empty()) return;
    Append(text_, "  ", PadRight(label, kLabel), Wrap(value, terminal_.width, kLabel + 2), "\n");
  }

  std::string Safe(std::string_view text) const { return terminal_.Safe(text); }

  void AddProcess() {
    const memagent::v1::Process& process = header_.process();
    Section("Program");
    Line("command", CommandLineText(view_, terminal_));
    Line("executable", Safe(process.executable()));
    Line("in folder", Safe(process.working_directory()));
    if (view_.IsImport()) {
      Line("imported from", Safe(header_.imported_from()));
      Line("host", Safe(process.host()));
      Line("process", process.pid() == 0 ? "several" : Concat(process.pid()));
    } else {
      AddParent();
    }
    const uint64_t start = header_.start_unix_nanos();
    Line("started", view_.IsImport() && start == 0 ? "" : UtcTime(start));
    Line("profiled for", HumanDuration(view_.wall_nanos));
    if (view_.IsImport()) return;
    Line("ended", view_.profile.footer ? Concat("by ", Safe(view_.profile.footer->how()))
                                       : "not recorded: killed, or still running");
  }

  void AddParent() {
    const memagent::v1::Process& process = header_.process();
    Line("process",
         Concat(process.pid(), ", child of ", process.parent_pid(),
                process.host().empty() ? "" : ", on ", Safe(process.host()),
                process.forked_without_exec() ? ", forked: blocks made before that are inherited"
                                              : ""));
  }

  void AddMachine() {
    const memagent::v1::Machine& machine = header_.machine();
    const memagent::v1::Kernel& kernel = header_.kernel();
    Section("Machine");
    std::string cpu = Safe(machine.cpu_model());
    Append(cpu, " (", Safe(machine.architecture()), ", family ", machine.cpu_family(), " model ",
           machine.cpu_model_number(), " stepping ", machine.cpu_stepping(), ", microcode ",
           machine.microcode().empty() ? "unknown" : Safe(machine.microcode()), ")");
    Line("CPU", cpu);
    for (int i = 0; view_.IsImport() && i < machine.nodes_size(); ++i) AddNode(machine, i);
    if (view_.IsImport()) return Line("kernel", Safe(kernel.release()));
    Line("virtual", machine.hypervisor().empty() ? "no" : Safe(machine.hypervisor()));
    Line("memory pages", HumanBytes(machine.page_bytes()));
    for (int i = 0; i < machine.nodes_size(); ++i) AddNode(machine, i);
    Line("kernel",
         Concat(Safe(kernel.release()), ", perf_event_paranoid ", kernel.perf_event_paranoid(),
                ", huge pages ", Safe(kernel.transparent_hugepage()), ", NUMA balancing ",
                kernel.numa_balancing() < 0 ? "unknown" : Concat(kernel.numa_balancing())));
  }

  void AddNode(const memagent::v1::Machine& machine, int index) {
    const memagent::v1::Node& node = machine.nodes(index);
    const int count = machine.nodes_size();
    std::string text = node.cpu_list().empty() ? "no CPUs" : Concat("CPUs ", Safe(node.cpu_list()));
    Append(text, ", ", HumanBytes(node.memory_total_bytes()));
    if (machine.distances_size() == count * count) {
      text += ", distances";
      for (int i = 0; i < count; ++i) Append(text, " ", machine.distances(index * count + i));
    }
    Line(Concat("node ", node.id()), text);
  }

  void AddEngines() {
    Section("Measured with");
    for (const auto& engine : header_.engines()) AddEngine(engine);
    for (const auto& event : view_.profile.event_totals) AddEvent(event);
    if (header_.engines_size() == 0) Line("engine", "none recorded");
    Line("options", Safe(header_.options()));
    Line(view_.IsImport() ? "memagent" : "agent", Safe(header_.agent_version()));
  }

  void AddEvent(const memagent::v1::EventTotal& event) {
    std::string text = Concat(
        Safe(event.event()), " ",
        view_.IsImport() ? ""
                         : Concat(RanText(event), " in ", Plural(event.threads(), "thread"), ", "),
        Plural(event.samples(), "record"));
    if (event.lost() > 0) Append(text, ", ", GroupedCount(event.lost()), " lost");
    if (event.throttled() > 0) Append(text, ", throttled ", Plural(event.throttled(), "time"));
    Line("event", text);
    if (!event.loss().empty()) Line("", Safe(event.loss()));
  }

  static std::string RanText(const memagent::v1::EventTotal& event) {
    if (IsSilent(event)) return "never ran";
    const double ran = Share(event.running_nanos(), event.enabled_nanos());
    return event.running_nanos() >= event.enabled_nanos()
               ? "ran"
               : Concat("ran ", Percent(ran), " of the time");
  }

  void AddEngine(const memagent::v1::Engine& engine) {
    const std::string name = EngineWord(engine.kind());
    if (!engine.in_use()) {
      std::string text = Concat("not used: ", Safe(engine.refused()));
      if (engine.refused_errno() != 0) Append(text, " (errno ", engine.refused_errno(), ")");
      if (!engine.remedy().empty()) Append(text, " ", Safe(engine.remedy()));
      return Line(name, text);
    }
    if (view_.IsImport() && engine.kind() == memagent::v1::Engine::NONE) {
      Line(name, "no memory accesses");
    } else if (view_.IsImport() && engine.period() == 0) {
      Line(name, Concat(Safe(engine.event()), ", as often as comes to ",
                        GroupedCount(static_cast<uint64_t>(engine.rate_hz())), " a second"));
    } else {
      Line(name, Concat("in use, ", Safe(engine.event()), ", period ",
                        GroupedCount(engine.period()), " ", Safe(engine.period_unit())));
    }
    Line("attributes", Safe(engine.exact_attr()));
    if (engine.skid_ticks_total() > 0) {
      Line("skid", Concat(engine.skid_ticks_on_next(), " of ", engine.skid_ticks_total(),
                          " calibration ticks hit the instruction after the access"));
    }
    Line("first touch",
         engine.fault_period() == 0
             ? "page faults were not recorded"
             : Concat("every ",
                      engine.fault_period() == 1 ? "" : Concat(engine.fault_period(), "th "),
                      "page fault"));
  }

  void AddPlacements() {
    if (view_.profile.applied_placements.empty()) return;
    Section("Placed by memagent");
    for (const auto& placement : view_.profile.applied_placements) {
      Line(profile::WasApplied(placement) ? "rule" : "warning",
           Concat(Safe(profile::PlacementText(placement)), "."));
    }
  }

  void AddPlacementCalls() {
    const std::vector<std::string> calls = TimelineOf(view_, nullptr, kMostCalls, terminal_);
    if (calls.empty()) return;
    Section("Calls that place memory or threads");
    for (const std::string& call : calls) {
      Append(text_, "  ", Wrap(call, terminal_.width, 4), "\n");
    }
  }

  void AddReasons(std::string_view label, const std::vector<ReasonCount>& reasons) {
    for (const ReasonCount& reason : reasons) Line(label, ReasonText(reason, terminal_));
  }

  void AddAccounting() {
    const Tally& tally = view_.tally;
    Section("Samples");
    Line("seen", GroupedCount(tally.seen));
    Line("attributed", GroupedCount(tally.attributed));
    AddReasons("unattributed", tally.unattributed);
    AddReasons("dropped", tally.dropped);
    Line("sum", tally.Balances() ? "seen = attributed + unattributed + dropped"
                                 : "DOES NOT BALANCE: the file is damaged");
    const EvidenceCount& e = tally.evidence;
    Line("addresses",
         Concat(GroupedCount(e.exact), " exact, ", GroupedCount(e.approximate), " approximate, ",
                GroupedCount(e.pc_only), " pc-only, ", GroupedCount(e.none), " none"));
    Line("page faults", Concat(GroupedCount(view_.faults.seen), " seen, ",
                               GroupedCount(view_.faults.attributed), " attributed"));
    AddReasons("", view_.faults.unattributed);
    AddReasons("lost faults", view_.faults.dropped);
    AddReasons("not tracked", view_.untracked);
    Line("quality", QualityWord(view_.quality.word));
    for (const std::string& reason : view_.quality.reasons) Line("", reason);
  }

  void AddThreads() {
    Section("Threads");
    const size_t shown = std::min(kMostThreads, view_.threads.size());
    for (size_t i = 0; i < shown; ++i) AddThread(view_.threads[i]);
    if (shown < view_.threads.size()) {
      Line("", Concat(view_.threads.size() - shown, " more: --format json has all."));
    }
  }

  void AddThread(const ThreadView& thread) {
    std::string text = Concat(Safe(thread.name), thread.main ? " (main)" : "", ": ");
    if (!thread.not_sampled.empty()) {
      Append(text, "not sampled: ", Safe(thread.not_sampled));
    } else {
      Append(text, Plural(thread.tally.seen, "sample"), ", ", GroupedCount(thread.tally.Lost()),
             " lost");
      if (!view_.IsImport()) {
        Append(text, ", events ran ", HumanDuration(thread.time_running_nanos), " of ",
               HumanDuration(thread.time_enabled_nanos));
      }
    }
    if (thread.unobserved_nanos > 0) {
      Append(text, ", first ", HumanDuration(thread.unobserved_nanos), " not observed");
    }
    if (thread.throttled > 0) Append(text, ", throttled ", thread.throttled, " times");
    Line(Concat(thread.tid), text);
  }

  void AddOwnCost() {
    if (view_.IsImport()) return;
    const memagent::v1::OwnCost& cost = view_.profile.own_cost;
    Section("Cost of the agent");
    for (const LabelledText& row : OwnCostRows(view_, terminal_)) Line(row.label, row.text);
    Line("mapped", HumanBytes(cost.bytes_mapped()));
    Line("tracked",
         Concat(Plural(cost.allocations_tracked(), "allocation"), ", ",
                GroupedCount(cost.live_blocks()), " live, ", Plural(cost.stacks(), "call stack")));
    if (view_.HasBudget()) Line("budget", BudgetText(view_));
    if (view_.IsSampled()) {
      Line("left out", Concat(GroupedCount(view_.not_picked), " allocations and ",
                              GroupedCount(view_.unpicked_frees), " frees by chance. ",
                              SamplingText(view_, terminal_)));
    }
    Line("checkpoints", Concat(cost.checkpoints(), " in ", HumanDuration(cost.checkpoint_nanos())));
    Line("page nodes by", Safe(cost.page_node_rung()));
    Line("clock error", HumanDuration(cost.clock_error_nanos()));
  }

  void AddEvents() {
    constexpr std::array<std::string_view, 3> kWords = {"note", "warning", "error"};
    if (view_.profile.events.empty()) return;
    Section(view_.IsImport() ? "What the import had to say" : "What the agent had to say");
    for (const auto& event : view_.profile.events) {
      const auto severity = static_cast<size_t>(std::clamp<int>(event.severity(), 0, 2));
      Line(kWords[severity], Safe(event.text().empty() ? event.code() : event.text()));
    }
  }

  void AddFile() {
    const profile::LoadReport& load = view_.profile.load;
    Section("File");
    Line("format", Concat(header_.format_major(), ".", header_.format_minor(), ", ",
                          HumanBytes(load.bytes), " in ", Plural(load.chunks_read, "chunk")));
    if (load.chunks_damaged > 0) Line("damaged", Plural(load.chunks_damaged, "chunk"));
    if (load.chunks_missing > 0) Line("missing", Plural(load.chunks_missing, "chunk"));
    if (load.truncated) Line("truncated", "yes: it ends inside a chunk");
    if (load.bad_references > 0) Line("lost names", GroupedCount(load.bad_references));
    for (const SymbolNote& note : view_.symbol_notes) Line("no lines", Safe(note.text));
  }

  const View& view_;
  const memagent::v1::Header& header_;
  const Terminal& terminal_;
  std::string text_;
};

}  // namespace

std::string InfoText(const View& view, const Terminal& terminal) {
  return Info(view, terminal).Run();
}

}  // namespace memagent::viewer
