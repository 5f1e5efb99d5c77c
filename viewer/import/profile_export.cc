#include "viewer/import/profile_export.h"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/os/perf_attr_text.h"
#include "agent/profile/writer.h"
#include "viewer/import/plain_text.h"

namespace memagent::importer {
namespace {

// The writer is the agent's: it borrows every text for the call.
class Exporter {
 public:
  Exporter(Recording& recording, std::string_view source, profile::Sink& sink)
      : recording_(recording),
        booking_(recording.booking()),
        machine_(recording.file().machine),
        source_(source),
        writer_(sink) {}

  bool Run() {
    WriteHeader();
    WriteModules();
    WriteThreads();
    WriteFrames();
    FindLoggedSites();
    WriteSites();
    WriteNotes();
    WriteKeptSamples();
    WriteTotals();
    Keep(writer_.WriteFooter({Ended(), "import"}));
    return good_;
  }

 private:
  void Keep(bool written) { good_ = good_ && written; }

  // Times of the profile are those of the recording.
  uint64_t Begun() const { return booking_.first_time(); }
  // Never 0, which would mean that nothing was counted yet: recordings may have no times.
  uint64_t Ended() const { return std::max<uint64_t>(booking_.last_time(), 1); }

  void WriteHeader() {
    profile::HeaderData header;
    header.agent_version = MEMAGENT_VERSION;
    header.imported_from = source_;
    header.start_unix_nanos = StartUnixNanos();
    header.start_monotonic = Begun();
    const std::vector<std::string_view> arguments = Arguments();
    header.process.pid = static_cast<uint32_t>(recording_.only_pid());
    header.process.host = Text(machine_.host);
    header.process.arguments = arguments;
    std::vector<profile::NodeData> nodes;
    for (const PerfNode& node : machine_.nodes) {
      if (nodes.size() == MachineNodes::kMostNodes) break;
      nodes.push_back({node.id, Text(node.cpus), node.memory_bytes});
    }
    header.machine.architecture = Text(machine_.architecture);
    header.machine.cpu_model = Text(machine_.cpu);
    header.machine.cpu_family = CpuIdNumber(machine_, 1);
    header.machine.cpu_model_number = CpuIdNumber(machine_, 2);
    header.machine.cpu_stepping = CpuIdNumber(machine_, 3);
    header.machine.nodes = nodes;
    header.machine.cpu_nodes = recording_.nodes().cpu_nodes();
    header.kernel.release = Text(machine_.kernel_release);
    const base::String attr = os::PerfAttrText(MainEvent().attr);
    const profile::EngineData engine = Engine(attr);
    header.engines = std::span(&engine, 1);
    Keep(writer_.WriteHeader(header));
  }

  // Only a recording with a clock of its own (-k) tells when it was made.
  uint64_t StartUnixNanos() const {
    if (!machine_.clock) return 0;
    return machine_.clock->wall_nanos + (Begun() - machine_.clock->event_nanos);
  }

  // perf's own command line, as far as the agent would keep one.
  std::vector<std::string_view> Arguments() const {
    constexpr size_t kMostBytes = size_t{64} << 10;
    std::vector<std::string_view> arguments;
    size_t bytes = 0;
    for (const std::string& word : machine_.command_line) {
      bytes += word.size() + 1;
      if (bytes > kMostBytes) break;
      arguments.push_back(word);
    }
    return arguments;
  }

  // Lives as long as the exporter: the writer only borrows.
  std::string_view Text(std::string_view text) {
    texts_.push_back(PlainText(text));
    return texts_.back();
  }

  const PerfEvent& MainEvent() const { return recording_.file().events[recording_.main_event()]; }

  profile::EngineData Engine(std::string_view attr_text) const {
    const perf_event_attr& attr = MainEvent().attr;
    const EventRole& role = recording_.roles()[recording_.main_event()];
    profile::EngineData engine;
    engine.in_use = true;
    engine.fault_period = FaultPeriod();
    if (role.use == EventUse::kFault) return engine;  // kind NONE: page faults only
    engine.kind = role.engine;
    engine.event = role.name;
    engine.exact_attr = attr_text;
    engine.period_unit = role.period_unit;
    if (attr.freq) {
      engine.rate_hz = static_cast<double>(attr.sample_freq);
    } else {
      engine.period = attr.sample_period;
    }
    for (const EventRole& other : recording_.roles()) {
      engine.knows_latency = engine.knows_latency || other.knows_latency;
      engine.knows_data_source = engine.knows_data_source || other.knows_source;
    }
    engine.knows_loads_and_stores = TellsLoadsAndStores();
    return engine;
  }

  bool TellsLoadsAndStores() const {
    const std::vector<EventRole>& roles = recording_.roles();
    return std::any_of(roles.begin(), roles.end(), [](const auto& r) { return r.tells_loads; }) &&
           std::any_of(roles.begin(), roles.end(), [](const auto& r) { return r.tells_stores; });
  }

  // 0: page faults were not recorded. With a rate each one seen counts for itself.
  uint64_t FaultPeriod() const {
    for (size_t i = 0; i < recording_.roles().size(); ++i) {
      if (recording_.roles()[i].use != EventUse::kFault) continue;
      const perf_event_attr& attr = recording_.file().events[i].attr;
      return attr.freq ? 1 : std::max<uint64_t>(attr.sample_period, 1);
    }
    return 0;
  }

  void WriteModules() {
    std::vector<profile::ModuleData> modules;
    for (uint32_t id = 1; id <= recording_.modules().count(); ++id) {
      const Module& module = recording_.modules().Get(id);
      modules.push_back(
          {module.path, module.build_id, module.start, module.end, module.load_bias, Begun(), 0});
    }
    Keep(writer_.WriteModules(1, modules));
  }

  void WriteThreads() {
    std::vector<profile::ThreadData> threads;
    for (const uint32_t index : booking_.threads()) {
      const ThreadInfo& thread = recording_.world().threads()[index];
      threads.push_back({thread.tid, thread.name, thread.started, thread.pid == thread.tid});
    }
    Keep(writer_.WriteThreads(1, threads));
  }

  void WriteFrames() {
    const std::vector<CodePlace>& places = booking_.places().frames();
    std::vector<profile::FrameData> frames;
    for (const CodePlace& place : places) frames.push_back({place.module, place.address, true});
    Keep(writer_.WriteFrames(1, frames));
    WriteSymbols(places);
  }

  void WriteSymbols(const std::vector<CodePlace>& places) {
    std::vector<uint32_t> order(places.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return places[a] < places[b]; });
    for (size_t begin = 0; begin < order.size();) {
      const uint32_t module = places[order[begin]].module;
      size_t end = begin;
      std::vector<uint64_t> addresses;
      for (; end < order.size() && places[order[end]].module == module; ++end) {
        addresses.push_back(places[order[end]].address);
      }
      if (module != 0) {
        WriteFunctions(std::span(order).subspan(begin, end - begin),
                       recording_.modules().FunctionsAt(module, addresses));
      }
      begin = end;
    }
  }

  void WriteFunctions(std::span<const uint32_t> frames, const std::vector<FunctionAt>& functions) {
    std::vector<profile::SymbolData> symbols;
    for (size_t i = 0; i < frames.size(); ++i) {
      if (functions[i].name.empty()) continue;
      symbols.push_back({frames[i] + 1, functions[i].name, functions[i].offset});
    }
    if (!symbols.empty()) Keep(writer_.WriteSymbols(symbols));
  }

  // Those without a sample, too.
  void FindLoggedSites() {
    const std::vector<LoggedCounts>& counts = booking_.blocks().counts();
    for (uint32_t name = 0; name < counts.size(); ++name) {
      if (counts[name].allocations > 0) logged_.emplace(booking_.SiteOfBlocks(name), counts[name]);
    }
  }

  void WriteSites() {
    const std::vector<ImportedSite>& sites = booking_.places().sites();
    std::vector<profile::SiteData> records;
    for (size_t i = 0; i < sites.size(); ++i) {
      const ImportedSite& site = sites[i];
      records.push_back({static_cast<uint32_t>(i + 1), site.kind, 0, site.name, site.module,
                         site.address, site.size_bytes, false});
    }
    Keep(writer_.WriteSites(records));
  }

  void WriteNotes() {
    for (const std::string& note : recording_.Notes()) {
      const profile::EventData event = {Begun(), profile::Severity::kWarning, "import", note};
      Keep(writer_.WriteEvents(std::span(&event, 1)));
    }
  }

  void WriteKeptSamples() {
    std::vector<profile::RawSampleData> rows;
    for (const aggregate::KeptSample& kept : booking_.kept().kept()) {
      rows.push_back({kept.time, kept.ip, kept.address, kept.thread, kept.cpu, kept.site,
                      kept.evidence, kept.memory_node, kept.latency_cycles, kept.data_src});
    }
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.time < b.time; });
    Keep(writer_.WriteRawSamples(rows));
  }

  void WriteTotals() {
    writer_.BeginTotals(Ended(), true);
    aggregate::Accounting process;
    for (auto& [serial, stats] : booking_.aggregator().threads()) {
      process.Add(stats.accounting);
      WriteThreadTotal(serial, stats);
    }
    for (const auto& [id, stats] : booking_.aggregator().sites()) WriteSiteTotal(id, stats);
    for (const auto& [id, counts] : logged_) {
      if (booking_.aggregator().FindSite(SiteId{id}) == nullptr) WriteSiteTotal(id, {});
    }
    std::deque<base::String> attrs;  // borrowed by the records
    std::vector<profile::EventTotalData> events;
    for (size_t i = 0; i < recording_.roles().size(); ++i) {
      const EventRole& role = recording_.roles()[i];
      const EventCount& count = recording_.counts()[i];
      if (role.use != EventUse::kAccess && role.use != EventUse::kTrace) continue;
      attrs.push_back(os::PerfAttrText(recording_.file().events[i].attr));
      profile::EventTotalData total;
      total.event = role.name;
      total.exact_attr = attrs.back();
      total.samples = count.samples;
      total.lost = count.lost;
      total.throttled = count.throttled;
      events.push_back(total);
    }
    std::vector<profile::CodeFateData> fates;
    for (const auto& [ip, counts] : booking_.aggregator().fates().by_code()) {
      fates.push_back({FrameOf(ip), counts});
    }
    Keep(writer_.EndTotals(process, {}, {}, events, fates));
  }

  void WriteThreadTotal(uint32_t serial, const aggregate::ThreadStats& stats) {
    profile::ThreadTotalData total;
    total.thread = serial;
    total.accounting = stats.accounting;
    total.samples_by_node = stats.samples_by_node;
    total.node_changes = stats.node_changes;
    if (serial != 0) {
      const ThreadInfo& thread = recording_.world().threads()[booking_.threads()[serial - 1]];
      total.ended = thread.ended;
      total.name = thread.name;
    }
    Keep(writer_.AddThreadTotal(total));
  }

  // Code is known to the aggregator by its frame.
  static uint32_t FrameOf(uint64_t code) {
    return static_cast<uint32_t>(code & ~aggregate::kNamedCode);
  }

  void WriteSiteTotal(uint32_t site, const aggregate::SiteStats& stats) {
    std::vector<profile::CellData> cells;
    std::vector<profile::CodeData> code;
    std::vector<profile::FirstTouchData> touches;
    std::vector<profile::AccessKindData> kinds;
    std::vector<profile::LatencyData> latency;
    for (const auto& [key, cell] : stats.cells) {
      cells.push_back({key.thread, key.cpu_node, key.memory_node, cell.samples, cell.latency,
                       cell.stores});
    }
    for (const auto& [ip, count] : stats.code) {
      code.push_back({FrameOf(ip), count.samples, count.remote_samples, count.latency});
    }
    for (const auto& [key, touch] : stats.first_touch) {
      touches.push_back({key.thread, key.cpu_node, FrameOf(key.ip),
                         static_cast<uint64_t>(touch.pages + 0.5), touch.faults});
    }
    for (const auto& [key, kind] : stats.kinds.all()) kinds.push_back(kind);
    for (const auto& [floor, samples] : stats.latency) latency.push_back({floor, samples});
    const std::vector<profile::PagesData> pages = PagesByNode(stats);
    profile::SiteTotalData total;
    total.site = site;
    AddLogged(total);
    total.samples = stats.samples;
    total.evidence_exact = stats.evidence[static_cast<size_t>(Evidence::kExact)];
    total.evidence_pc_only = stats.evidence[static_cast<size_t>(Evidence::kPcOnly)];
    total.cells = cells;
    total.code = code;
    total.first_touch = touches;
    total.pages = pages;
    total.kinds = kinds;
    total.latency = latency;
    Keep(writer_.AddSiteTotal(total));
  }

  void AddLogged(profile::SiteTotalData& total) const {
    const auto logged = logged_.find(total.site);
    if (logged == logged_.end()) return;
    total.allocations = logged->second.allocations;
    total.frees = logged->second.frees;
    total.bytes_allocated = logged->second.bytes_allocated;
    total.bytes_freed = logged->second.bytes_freed;
    total.bytes_peak = logged->second.bytes_peak;
  }

  static std::vector<profile::PagesData> PagesByNode(const aggregate::SiteStats& stats) {
    std::map<NodeId, uint64_t> by_node;
    for (const auto& [page, node] : stats.pages) ++by_node[node];
    std::vector<profile::PagesData> pages;
    for (const auto& [node, count] : by_node) pages.push_back({node, count});
    return pages;
  }

  Recording& recording_;
  Booking& booking_;
  const PerfMachine& machine_;
  std::string_view source_;
  profile::ProfileWriter writer_;
  std::deque<std::string> texts_;
  std::map<uint32_t, LoggedCounts> logged_;  // by site: of the allocation log
  bool good_ = true;
};

}  // namespace

bool WriteProfile(Recording& recording, std::string_view source, profile::Sink& sink) {
  return Exporter(recording, source, sink).Run();
}

}  // namespace memagent::importer
