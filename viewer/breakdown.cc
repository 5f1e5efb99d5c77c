#include "viewer/breakdown.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "viewer/concat.h"
#include "viewer/nodes.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

constexpr size_t kNarrowestName = 24;
constexpr size_t kMostNodeColumns = 64;

GridColumn Left(std::string key, std::string header, int drop_order = 0) {
  return {std::move(key), {std::move(header), Align::kLeft, drop_order, false, 0, 0}};
}
GridColumn Right(std::string key, std::string header, int drop_order = 0) {
  return {std::move(key), {std::move(header), Align::kRight, drop_order, false, 0, 0}};
}
GridColumn Flexible(std::string key, std::string header) {
  return {std::move(key), {std::move(header), Align::kLeft, 0, true, kNarrowestName, 0}};
}
// Only for machines.
GridColumn Hidden(std::string key) { return Left(std::move(key), ""); }

GridCell Both(Json value, std::string shown) {
  return {std::move(value), {std::move(shown), "", false, {}}};
}
GridCell Machine(Json value) { return Both(std::move(value), ""); }
GridCell Number(uint64_t value) { return Both(value, HumanCount(value)); }
GridCell Name(Json value, std::string shown, std::string tail) {
  return {std::move(value), {std::move(shown), std::move(tail), false, {}}};
}

// Builds the columns and cells that all groupings end with.
class SampleColumns {
 public:
  SampleColumns(const View& view, const Terminal& terminal) : view_(view), terminal_(terminal) {}

  void AddColumns(Grid& grid) const {
    grid.columns.push_back(Right("samples", "SAMPLES"));
    grid.columns.push_back(Right("share", "SHARE"));
    grid.columns.push_back(Hidden("share_low"));
    grid.columns.push_back(Hidden("share_high"));
    grid.columns.push_back(Hidden("remote_samples"));
    grid.columns.push_back(Right("remote_share", view_.TellsPages() ? "REMOTE" : ""));
    if (!view_.HasLatency()) return;
    grid.columns.push_back(Right("latency_mean_cycles", "CYCLES"));
    grid.columns.push_back(Right("latency_share", "LATENCY"));
    grid.columns.push_back(Hidden("latency_samples"));
    grid.columns.push_back(Hidden("latency_cycles"));
  }

  void AddCells(std::vector<GridCell>& row, uint64_t samples, uint64_t located, uint64_t remote,
                const LatencySum& latency) const {
    const uint64_t whole = view_.tally.MemorySamples();
    const Interval interval = WilsonInterval(samples, whole, view_.design_effect);
    row.push_back(Number(samples));
    row.push_back(
        Both(Share(samples, whole),
             Concat(PercentNumber(Share(samples, whole)), " ", terminal_.glyphs().plus_minus,
                    Fixed(HalfWidth(samples, whole, view_.design_effect) * 100, 1), " %")));
    row.push_back(Machine(interval.low));
    row.push_back(Machine(interval.high));
    row.push_back(Machine(remote));
    row.push_back(located == 0 ? Both(nullptr, "-")
                               : Both(Share(remote, located), Percent(Share(remote, located))));
    if (view_.HasLatency()) AddLatency(row, latency);
  }

 private:
  void AddLatency(std::vector<GridCell>& row, const LatencySum& latency) const {
    const auto mean = latency.Mean();
    const double share = Share(latency.cycles, view_.access.latency.cycles);
    row.push_back(mean ? Both(*mean, GroupedCount(static_cast<uint64_t>(*mean + 0.5)))
                       : Both(nullptr, "-"));
    row.push_back(mean ? Both(share, Percent(share)) : Both(nullptr, "-"));
    row.push_back(Machine(latency.samples));
    row.push_back(Machine(latency.cycles));
  }

  const View& view_;
  const Terminal& terminal_;
};

struct Group {
  CodeLine where;
  std::string name;
  std::string location;
  std::string kind;
  std::vector<const SiteView*> sites;
  uint64_t samples = 0;
  uint64_t located = 0;
  uint64_t remote = 0;
  uint64_t bytes_peak = 0;
  uint64_t bytes_live = 0;
  uint64_t allocations = 0;
  CountVariances variances;
  LatencySum latency;

  void Add(const SiteView& site) {
    sites.push_back(&site);
    samples += site.samples;
    located += site.located_samples;
    remote += site.remote_samples;
    bytes_peak += site.bytes_peak;
    bytes_live += site.bytes_live;
    allocations += site.allocations;
    variances.Add(site.variances);
    latency.Add(site.access.latency);
  }
};

template <typename Map>
auto BySamples(Map& groups) {
  std::vector<typename Map::mapped_type> rows;
  for (auto& [key, group] : groups) rows.push_back(std::move(group));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.samples > b.samples; });
  return rows;
}

std::string SiteList(const std::vector<const SiteView*>& sites) {
  constexpr size_t kMost = 4;
  std::string text;
  for (size_t i = 0; i < std::min(kMost, sites.size()); ++i) {
    Append(text, i == 0 ? "" : " ", sites[i]->id);
  }
  if (sites.size() > kMost) Append(text, " +", sites.size() - kMost);
  return text;
}

// A site's bytes and counts are about its whole life; peaks of different sites need not coincide.
// Takes a SiteView or a Group.
template <typename Counts>
void AddMemoryCells(const View& view, const Counts& counts, const Terminal& terminal,
                    std::vector<GridCell>& row) {
  const CountVariances& v = counts.variances;
  const auto add = [&](uint64_t count, std::string text, double variance) {
    row.push_back(Both(count, EstimateText(text, count, variance, terminal)));
  };
  add(counts.bytes_peak, HumanBytes(counts.bytes_peak), v.bytes_peak);
  add(counts.bytes_live, HumanBytes(counts.bytes_live), v.bytes_live);
  add(counts.allocations, HumanCount(counts.allocations), v.allocations);
  if (!view.IsSampled()) return;
  const auto add_interval = [&](uint64_t count, double variance) {
    const Interval interval = EstimateInterval(static_cast<double>(count), variance);
    row.push_back(Machine(interval.low));
    row.push_back(Machine(interval.high));
  };
  add_interval(counts.bytes_peak, v.bytes_peak);
  add_interval(counts.bytes_live, v.bytes_live);
  add_interval(counts.allocations, v.allocations);
}

void AddMemoryColumns(const View& view, Grid& grid) {
  grid.columns.push_back(Right("bytes_peak", "PEAK"));
  grid.columns.push_back(Right("bytes_live", "LIVE", 3));
  grid.columns.push_back(Right("allocations", "ALLOCS", 2));
  if (!view.IsSampled()) return;
  for (const char* key : {"bytes_peak_low", "bytes_peak_high", "bytes_live_low", "bytes_live_high",
                          "allocations_low", "allocations_high"}) {
    grid.columns.push_back(Hidden(key));
  }
}

std::map<uint32_t, Group> UsesByThread(const View& view) {
  std::map<uint32_t, Group> uses;
  for (const SiteView& site : view.sites) {
    for (const Use& use : site.uses) {
      Group& group = uses[use.thread];
      if (use.IsLocated()) group.located += use.samples;
      if (use.IsRemote()) group.remote += use.samples;
      group.latency.Add(use.latency);
      if (group.sites.empty() || group.sites.back() != &site) group.sites.push_back(&site);
    }
  }
  return uses;
}

// The matrix thread x memory node, by node; empty on a machine with one.
std::map<int32_t, std::map<uint32_t, uint64_t>> UsesByMemory(const View& view) {
  std::map<int32_t, std::map<uint32_t, uint64_t>> uses;
  if (!view.TellsPages()) return uses;
  for (const SiteView& site : view.sites) {
    for (const Use& use : site.uses) {
      // A hostile file may name any number of nodes.
      const bool room = uses.size() < kMostNodeColumns || uses.count(use.memory_node) > 0;
      if (use.memory_node >= 0 && room) uses[use.memory_node][use.thread] += use.samples;
    }
  }
  return uses;
}

std::vector<const ThreadView*> RankedThreads(const View& view) {
  std::vector<const ThreadView*> threads;
  for (const ThreadView& thread : view.threads) threads.push_back(&thread);
  std::stable_sort(threads.begin(), threads.end(), [](const ThreadView* a, const ThreadView* b) {
    return a->tally.MemorySamples() > b->tally.MemorySamples();
  });
  return threads;
}

// null when it is not in the profile.
Json DistanceJson(const View& view, int32_t from, int32_t to) {
  const auto distance = NodeDistance(view, from, to);
  return distance ? Json(*distance) : Json(nullptr);
}

}  // namespace

Grid SiteGrid(const View& view, const Terminal& terminal) {
  const SampleColumns samples(view, terminal);
  Grid grid;
  grid.columns = {Left("id", "ID"), Flexible("function", "SITE"), Hidden("file"), Hidden("line"),
                  Left("kind", "KIND")};
  AddMemoryColumns(view, grid);
  grid.columns.push_back(Hidden("frees"));
  grid.columns.push_back(Hidden("bytes_allocated"));
  samples.AddColumns(grid);
  for (const SiteView& site : view.sites) {
    std::vector<GridCell> row = {
        Both(site.id, site.id),
        Name(site.where.short_function, SiteName(site, terminal), SiteLocation(site, terminal)),
        Machine(site.where.file), Machine(site.where.line), Both(site.kind, site.kind)};
    AddMemoryCells(view, site, terminal, row);
    row.push_back(Machine(site.frees));
    row.push_back(Machine(site.bytes_allocated));
    samples.AddCells(row, site.samples, site.located_samples, site.remote_samples,
                     site.access.latency);
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

Grid ObjectGrid(const View& view, const Terminal& terminal) {
  using Key = std::tuple<std::string, std::string, std::string, std::string, uint32_t>;
  std::map<Key, Group> groups;
  for (const SiteView& site : view.sites) {
    const CodeLine& where = site.where;
    Group& group = groups[{site.kind, where.module, where.function, where.file, where.line}];
    group.where = where;
    group.kind = site.kind;
    group.name = SiteName(site, terminal);
    group.location = SiteLocation(site, terminal);
    group.Add(site);
  }
  const SampleColumns samples(view, terminal);
  Grid grid;
  grid.columns = {Flexible("function", "OBJECT"), Hidden("file"),       Hidden("line"),
                  Left("kind", "KIND"),           Left("", "SITES", 2), Hidden("site_count")};
  AddMemoryColumns(view, grid);
  samples.AddColumns(grid);
  for (const Group& group : BySamples(groups)) {
    std::vector<GridCell> row = {Name(group.where.short_function, group.name, group.location),
                                 Machine(group.where.file),
                                 Machine(group.where.line),
                                 Both(group.kind, group.kind),
                                 Both(nullptr, SiteList(group.sites)),
                                 Machine(group.sites.size())};
    AddMemoryCells(view, group, terminal, row);
    samples.AddCells(row, group.samples, group.located, group.remote, group.latency);
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

Grid CodeGrid(const View& view, const Terminal& terminal) {
  using Key = std::tuple<std::string, std::string, std::string, uint32_t, uint64_t>;
  std::map<Key, Group> groups;
  for (const SiteView& site : view.sites) {
    for (const AccessingCode& code : site.code) {
      const bool known = !code.where.function.empty() || !code.where.file.empty();
      Group& group = groups[{code.where.module, code.where.function, code.where.file,
                             code.where.line, known ? 0 : code.where.address}];
      group.where = code.where;
      group.sites.push_back(&site);  // sites come with the most samples first
      group.samples += code.samples;
      group.remote += code.remote_samples;
      group.latency.Add(code.latency);
    }
  }
  const SampleColumns samples(view, terminal);
  Grid grid;
  grid.columns = {Flexible("function", "ACCESSING CODE"), Hidden("file"), Hidden("line"),
                  Hidden("module"), Left("", "SITES", 2)};
  samples.AddColumns(grid);
  for (const Group& group : BySamples(groups)) {
    std::vector<GridCell> row = {
        Name(group.where.short_function, terminal.Safe(group.where.short_function),
             LocationText(group.where, terminal)),
        Machine(group.where.file), Machine(group.where.line), Machine(group.where.module),
        Both(nullptr, SiteList(group.sites))};
    samples.AddCells(row, group.samples, view.HasRemote() ? group.samples : 0, group.remote,
                     group.latency);
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

Grid ThreadGrid(const View& view, const Terminal& terminal) {
  std::map<uint32_t, Group> uses = UsesByThread(view);
  const SampleColumns samples(view, terminal);
  Grid grid;
  grid.columns = {Flexible("name", "THREAD"),
                  Right("tid", "TID"),
                  Right("cpu_time_ns", "CPU TIME", 1),
                  Right("samples_seen", "SEEN", 2),
                  Right("attributed", "ATTRIBUTED", 3),
                  Right("dropped", "LOST"),
                  Left("", "SITES", 2)};
  samples.AddColumns(grid);
  const std::map<int32_t, std::map<uint32_t, uint64_t>> by_memory = UsesByMemory(view);
  for (const auto& [node, threads] : by_memory) {
    grid.columns.push_back(
        Right(Concat("samples_memory_node_", node), Concat("ON NODE ", node), 4));
  }
  for (const ThreadView* thread : RankedThreads(view)) {
    const Group& group = uses[thread->id];
    const Tally& tally = thread->tally;
    std::vector<GridCell> row = {
        Name(thread->name, terminal.Safe(thread->name),
             thread->not_sampled.empty() ? "" : "(not sampled)"),
        Both(thread->tid, Concat(thread->tid)),
        Both(thread->time_running_nanos, HumanDuration(thread->time_running_nanos)),
        Number(tally.seen),
        Number(tally.attributed),
        Number(tally.Lost()),
        Both(nullptr, SiteList(group.sites))};
    samples.AddCells(row, tally.MemorySamples(), group.located, group.remote, group.latency);
    for (const auto& [node, threads] : by_memory) {
      const auto found = threads.find(thread->id);
      row.push_back(Number(found == threads.end() ? 0 : found->second));
    }
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

Grid LevelGrid(const View& view, const Terminal& terminal) {
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;
  std::map<Key, AccessKindView> groups;
  for (const auto& [key, kind] : view.access.kinds) {
    groups[{OpWord(kind.source.op), LevelWord(kind.source.level),
            LocalityWord(kind.source.locality), TestimonyWord(kind.page)}]
        .Add(kind);
  }
  const SampleColumns samples(view, terminal);
  Grid grid;
  grid.columns = {Left("op", "ACCESS"), Left("level", "SERVED BY"), Left("locality", "OF"),
                  Left("page", view.HasRemote() ? "PAGE" : "")};
  samples.AddColumns(grid);
  for (const AccessKindView& group : BySamples(groups)) {
    std::vector<GridCell> row;
    for (const std::string_view word :
         {OpWord(group.source.op), LevelWord(group.source.level),
          LocalityWord(group.source.locality), TestimonyWord(group.page)}) {
      row.push_back(Both(word, std::string(word)));
    }
    samples.AddCells(row, group.samples, group.page == Testimony::kUnknown ? 0 : group.samples,
                     group.page == Testimony::kFar ? group.samples : 0, group.latency);
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

Grid NodeGrid(const View& view, const Terminal& terminal) {
  std::map<std::pair<int32_t, int32_t>, Group> cells;
  for (const SiteView& site : view.sites) {
    for (const Use& use : site.uses) {
      Group& cell = cells[{use.cpu_node, use.memory_node}];
      cell.samples += use.samples;
      cell.latency.Add(use.latency);
    }
  }
  const SampleColumns samples(view, terminal);
  Grid grid;
  grid.columns = {Left("cpu_node", "CPU ON"), Left("memory_node", "MEMORY ON"),
                  Right("distance", "DISTANCE")};
  samples.AddColumns(grid);
  for (const auto& [key, cell] : cells) {
    const auto [cpu, memory] = key;
    const bool located = cpu >= 0 && memory >= 0;
    const Json distance = DistanceJson(view, cpu, memory);
    std::vector<GridCell> row = {Both(cpu, NodeText(cpu)), Both(memory, NodeText(memory)),
                                 Both(distance, distance.is_null() ? "-" : distance.dump())};
    samples.AddCells(row, cell.samples, located ? cell.samples : 0,
                     located && cpu != memory ? cell.samples : 0, cell.latency);
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

}  // namespace memagent::viewer
