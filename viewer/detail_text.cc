#include "viewer/detail_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "viewer/access_text.h"
#include "viewer/advice.h"
#include "viewer/advice_text.h"
#include "viewer/concat.h"
#include "viewer/nodes.h"
#include "viewer/placement_timeline.h"
#include "viewer/strip_text.h"
#include "viewer/table.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

constexpr size_t kIndent = 4;
constexpr size_t kLabel = 13;     // columns of the labels
constexpr size_t kMostItems = 5;  // of one list
constexpr size_t kNarrowestName = 11;
constexpr size_t kMostThreads = 6;  // of the matrix; all are in the JSON
constexpr size_t kMostNodes = 256;  // likewise; a damaged file may name a million
constexpr size_t kMostFrames = 24;  // of the stack; the whole stack is in the JSON

// How many outermost frames only start the program or a thread: the same in every stack.
size_t StartFrames(const std::vector<CodeLine>& stack) {
  constexpr std::array<std::string_view, 11> kStarters = {"_start",
                                                          "__libc_start_main",
                                                          "__libc_start_main_impl",
                                                          "__libc_start_call_main",
                                                          "start_thread",
                                                          "clone",
                                                          "__clone",
                                                          "clone3",
                                                          "__clone3",
                                                          "__clone_internal",
                                                          "execute_native_thread_routine"};
  size_t count = 0;
  while (count + 1 < stack.size()) {
    const std::string& name = stack[stack.size() - 1 - count].short_function;
    if (std::find(kStarters.begin(), kStarters.end(), name) == kStarters.end()) break;
    ++count;
  }
  return count;
}

class Detail {
 public:
  Detail(const View& view, const SiteView& site, const std::string& profile,
         const Terminal& terminal)
      : view_(view),
        site_(site),
        profile_(profile),
        terminal_(terminal),
        diagnosis_(Diagnose(view, site)) {}

  std::string Run() {
    AddTitle();
    AddWhat();
    AddStack();
    if (view_.HasRemote() && !site_.uses.empty()) {
      AddNodes();
      AddThreads();
    } else {
      AddUsers();
    }
    AddFirstTouch();
    AddPages();
    AddCalls();
    AddCauses();
    AddStrips();
    AddCode();
    for (auto& [label, items] : AccessLines(view_, site_.access, terminal_)) {
      AddList(label, std::move(items));
    }
    AddEvidence();
    AddAdvice();
    return std::move(text_);
  }

 private:
  void AddItems(std::string_view label, const std::vector<std::string>& items) {
    if (items.empty()) return;
    Append(text_, std::string(kIndent, ' '), PadRight(label, kLabel),
           WrapItems(items, terminal_.width, kIndent + kLabel), "\n");
  }

  // A list of at most kMostItems with dots between; says how many more there are.
  void AddList(std::string_view label, std::vector<std::string> items) {
    if (items.size() > kMostItems) {
      const size_t more = items.size() - kMostItems;
      items.resize(kMostItems);
      items.push_back(Concat(more, " more"));
    }
    for (size_t i = 0; i + 1 < items.size(); ++i) Append(items[i], " ", terminal_.glyphs().dot);
    AddItems(label, items);
  }

  void AddSentence(std::string_view label, std::string_view text) {
    Append(text_, std::string(kIndent, ' '), PadRight(label, kLabel),
           Wrap(text, terminal_.width, kIndent + kLabel), "\n");
  }

  void AddTitle() {
    const std::string share =
        Concat(Percent(site_.share), " of the memory samples (", GroupedCount(site_.samples), ")");
    std::string title = Concat(PadRight(site_.id, kIndent), SiteName(site_, terminal_), " ",
                               SiteLocation(site_, terminal_));
    title = Truncate(title, terminal_.width - DisplayWidth(share) - 2, terminal_.charset);
    Append(text_, terminal_.Paint(title, Ink::kBold), "  ", share, "\n");
  }

  void AddWhat() {
    const std::string inherited =
        site_.inherited_blocks == 0
            ? ""
            : Concat(", ", Plural(site_.inherited_blocks, "block"), " of ",
                     HumanBytes(site_.inherited_bytes), " inherited at the fork");
    if (site_.allocations == 0) {
      const std::string size =
          site_.bytes_peak == 0 ? "size unknown" : HumanBytes(site_.bytes_peak);
      AddSentence("memory", Concat(site_.kind, ", ", size, inherited));
      return;
    }
    AddSentence(
        "memory",
        Concat(
            site_.kind, ", ",
            Number(GroupedCount(site_.allocations), site_.allocations, site_.variances.allocations),
            site_.allocations == 1 ? " allocation of " : " allocations of ",
            Bytes(site_.bytes_allocated, site_.variances.bytes_allocated), " in all, ",
            Number(GroupedCount(site_.frees), site_.frees, site_.variances.frees), " freed, peak ",
            Bytes(site_.bytes_peak, site_.variances.bytes_peak), ", ",
            Bytes(site_.bytes_live, site_.variances.bytes_live), " live at the end", inherited));
    if (site_.picked_allocations == 0) return;
    AddSentence("", Concat("estimated from ", Plural(site_.picked_allocations, "picked allocation"),
                           " and ", Plural(site_.picked_frees, "free"), " of such"));
  }

  std::string Number(std::string_view text, uint64_t count, double variance) const {
    return EstimateText(text, count, variance, terminal_);
  }
  std::string Bytes(uint64_t bytes, double variance) const {
    return Number(HumanBytes(bytes), bytes, variance);
  }

  void AddStack() {
    std::vector<std::string> items;
    const size_t frames = site_.stack.size() - StartFrames(site_.stack);
    const size_t shown = std::min(frames, kMostFrames);
    for (size_t i = 0; i < shown; ++i) {
      const std::string frame = CodeText(site_.stack[i], terminal_);
      items.push_back(i == 0 ? frame : Concat(terminal_.glyphs().arrow, " ", frame));
    }
    if (shown < frames) items.push_back(Concat("and ", frames - shown, " more"));
    if (site_.stack_cut) items.push_back("(the stack goes on, it could not be followed further)");
    AddItems("call stack", items);
  }

  void AddUsers() {
    std::map<uint32_t, uint64_t> samples;
    for (const Use& use : site_.uses) samples[use.thread] += use.samples;
    std::vector<std::pair<uint64_t, uint32_t>> ranked;
    for (const auto& [thread, count] : samples) ranked.emplace_back(count, thread);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> items;
    for (const auto& [count, thread] : ranked) {
      items.push_back(
          Concat(ThreadText(view_, thread, terminal_), " ", Percent(Share(count, site_.samples))));
    }
    AddList("used by", std::move(items));
  }

  // Columns of both matrices: the nodes of memory that the site was accessed in.
  std::set<int32_t> MemoryNodes() const {
    std::set<int32_t> nodes;
    for (const Use& use : site_.uses) {
      if (nodes.size() < kMostNodes) nodes.insert(use.memory_node);
    }
    return nodes;
  }
  std::vector<Column> MatrixColumns(std::string first, const std::set<int32_t>& nodes) const {
    std::vector<Column> columns = {{std::move(first), Align::kLeft, 0, true, kNarrowestName, 0}};
    for (const int32_t node : nodes) {
      const std::string no_cpus = HasCpus(view_, node) ? "" : ", no CPUs";
      std::string name = nodes.size() > 2 ? Concat("memory ", node, no_cpus)
                                          : Concat("node ", node, " memory", no_cpus);
      if (node < 0) name = "unknown memory";
      columns.push_back({name, Align::kRight, 0, false, 0, 0});
    }
    return columns;
  }

  // The matrix CPU node x memory node, with how many threads ran there.
  void AddNodes() {
    std::map<int32_t, std::map<int32_t, uint64_t>> samples;
    std::map<int32_t, std::set<uint32_t>> threads;
    const std::set<int32_t> memory_nodes = MemoryNodes();
    for (const Use& use : site_.uses) {
      if (samples.size() >= kMostNodes && samples.count(use.cpu_node) == 0) continue;
      samples[use.cpu_node][use.memory_node] += use.samples;
      threads[use.cpu_node].insert(use.thread);
    }
    std::vector<Column> columns = MatrixColumns("samples", memory_nodes);
    columns.push_back({"threads", Align::kRight, 0, false, 0, 0});
    Table table(std::move(columns));
    for (auto& [cpu_node, row] : samples) {
      std::vector<Cell> cells = {{Concat("from ", NodeText(cpu_node)), "", false, {}}};
      for (const int32_t node : memory_nodes) {
        cells.push_back({HumanCount(row[node]), "", false, {}});
      }
      cells.push_back({Concat(threads[cpu_node].size()), "", false, {}});
      table.AddRow(std::move(cells));
    }
    AddBlock("nodes", table);
  }

  // The matrix thread x memory node: those that use it most, and from where.
  void AddThreads() {
    std::map<std::pair<uint32_t, int32_t>, std::map<int32_t, uint64_t>> rows;
    std::map<std::pair<uint32_t, int32_t>, uint64_t> sums;
    for (const Use& use : site_.uses) {
      rows[{use.thread, use.cpu_node}][use.memory_node] += use.samples;
      sums[{use.thread, use.cpu_node}] += use.samples;
    }
    std::vector<std::pair<uint64_t, std::pair<uint32_t, int32_t>>> ranked;
    for (const auto& [key, sum] : sums) ranked.emplace_back(sum, key);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    const std::set<int32_t> memory_nodes = MemoryNodes();
    std::vector<Column> columns = MatrixColumns("", memory_nodes);
    columns.push_back({"share", Align::kRight, 0, false, 0, 0});
    Table table(std::move(columns));
    for (size_t i = 0; i < std::min(ranked.size(), kMostThreads); ++i) {
      const auto& key = ranked[i].second;
      std::vector<Cell> cells = {
          {Concat(ThreadText(view_, key.first, terminal_), " on ", NodeText(key.second)),
           "",
           false,
           {}}};
      for (const int32_t node : memory_nodes) {
        cells.push_back({HumanCount(rows[key][node]), "", false, {}});
      }
      cells.push_back({Percent(Share(ranked[i].first, site_.samples)), "", false, {}});
      table.AddRow(std::move(cells));
    }
    AddBlock("threads", table);
    if (ranked.size() <= kMostThreads) return;
    AddSentence("", Concat("and ", ranked.size() - kMostThreads, " more"));
  }

  // A small table beside its label.
  void AddBlock(std::string_view label, const Table& table) {
    Terminal plain = terminal_;
    plain.color = false;
    plain.width -= kIndent + kLabel;
    const std::string block = table.Render(plain);
    size_t begin = 0;
    while (begin < block.size()) {
      const size_t end = block.find('\n', begin);
      Append(text_, std::string(kIndent, ' '), PadRight(begin == 0 ? label : "", kLabel),
             block.substr(begin, end - begin), "\n");
      begin = end + 1;
    }
  }

  // Who touched from where, most pages first; several instructions of one line are one row.
  std::vector<std::pair<std::string, uint64_t>> TouchRows() const {
    std::map<std::string, uint64_t> pages;
    for (const FirstTouch& touch : site_.first_touch) {
      const std::string node = view_.HasRemote() ? Concat(" on ", NodeText(touch.cpu_node)) : "";
      pages[Concat(CodeText(touch.where, terminal_), " by ",
                   ThreadText(view_, touch.thread, terminal_), node)] += touch.pages;
    }
    std::vector<std::pair<std::string, uint64_t>> rows(pages.begin(), pages.end());
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return rows;
  }

  void AddFirstTouch() {
    uint64_t all = 0;
    uint64_t faults = 0;
    for (const FirstTouch& touch : site_.first_touch) {
      all += touch.pages;
      faults += touch.faults;
    }
    if (faults == 0) {
      const bool recorded = !view_.engine_record || view_.engine_record->fault_period() != 0;
      AddSentence("first touch", recorded ? "no page fault sampled: few of its pages were new"
                                          : "page faults were not recorded");
      return;
    }
    std::vector<std::string> items;
    for (const auto& [text, pages] : TouchRows()) {
      items.push_back(Concat(text, " ", Percent(Share(pages, all))));
    }
    AddList("first touch", std::move(items));
    const std::string scale =
        all == faults ? "" : Concat(", estimated from ", Plural(faults, "fault"));
    AddSentence("", Concat("of ", Plural(all, "page"), scale));
  }

  void AddPages() {
    uint64_t all = 0;
    for (const NodePages& pages : site_.pages) all += pages.pages;
    std::vector<std::string> items;
    for (const NodePages& pages : site_.pages) {
      items.push_back(Concat(Percent(Share(pages.pages, all)), " on ", NodeText(pages.node)));
    }
    if (items.empty() && site_.pages_not_present == 0) return;
    items.push_back(Plural(all, "sampled page"));
    if (site_.pages_not_present > 0) {
      items.push_back(Concat(GroupedCount(site_.pages_not_present), " not in memory"));
    }
    AddList("pages", std::move(items));
  }

  void AddCode() {
    std::vector<std::string> items;
    for (const AccessingCode& code : site_.code) {
      std::string item =
          Concat(CodeText(code.where, terminal_), " ", Percent(Share(code.samples, site_.samples)));
      if (view_.TellsPages()) {
        Append(item, " (", Percent(Share(code.remote_samples, code.samples)), " remote)");
      }
      items.push_back(std::move(item));
    }
    AddList("accessed by", std::move(items));
  }

  void AddEvidence() {
    const EvidenceCount& e = site_.evidence;
    const uint64_t all = e.exact + e.approximate + e.pc_only;
    if (all == 0) return;
    AddList("evidence", {Concat("exact ", Percent(Share(e.exact, all))),
                         Concat("approximate ", Percent(Share(e.approximate, all))),
                         Concat("pc-only ", Percent(Share(e.pc_only, all)))});
  }

  void AddCalls() {
    const auto calls = TimelineOf(view_, &site_, kMostItems, terminal_);
    for (size_t i = 0; i < calls.size(); ++i) AddSentence(i == 0 ? "calls" : "", calls[i]);
  }

  void AddCauses() {
    const std::vector<std::string> lines = CauseLines(view_, site_, diagnosis_, terminal_);
    for (size_t i = 0; i < lines.size(); ++i) AddSentence(i == 0 ? "cause" : "", lines[i]);
  }

  // Who uses which part, and which part lies where.
  void AddStrips() {
    if (!view_.HasRemote()) return;
    if (site_.located_samples > 0) AddSentence("pattern", PatternText(diagnosis_.pattern));
    for (const StripLine& line : StripLines(site_, terminal_)) AddSentence(line.label, line.text);
  }

  // Of a machine with one node nothing is said here: the verdict has said it.
  void AddAdvice() {
    for (const Advice& advice : diagnosis_.advice) {
      if (advice.kind == AdviceKind::kOneNode) continue;
      AddSentence(terminal_.glyphs().becomes, AdviceText(advice, terminal_));
      const std::string effect = EffectText(view_, diagnosis_, advice, terminal_);
      if (!effect.empty()) AddSentence("", effect);
      const std::string command = TryCommand(view_, site_, advice, profile_, terminal_);
      if (!command.empty()) Append(text_, std::string(kIndent, ' '), "Try it: ", command, "\n");
    }
  }

  const View& view_;
  const SiteView& site_;
  const std::string& profile_;
  const Terminal& terminal_;
  const Diagnosis diagnosis_;
  std::string text_;
};

}  // namespace

std::string DetailText(const View& view, const SiteView& site, const std::string& profile,
                       const Terminal& terminal) {
  return Detail(view, site, profile, terminal).Run();
}

}  // namespace memagent::viewer
