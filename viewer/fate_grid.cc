#include "viewer/fate_grid.h"

#include <algorithm>
#include <utility>

#include "viewer/statistics.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

GridColumn Right(std::string key, std::string header, int drop_order = 0) {
  return {std::move(key), {std::move(header), Align::kRight, drop_order, false, 0, 0}};
}
// Only for machines.
GridColumn Hidden(std::string key) { return {std::move(key), {"", Align::kLeft, 0, false, 0, 0}}; }

GridCell Both(Json value, std::string shown) {
  return {std::move(value), {std::move(shown), "", false, {}}};
}

GridCell Part(uint64_t part, uint64_t whole) { return Both(part, Percent(Share(part, whole))); }

std::string WorstTrap(const FateView& fate) {
  const auto worst =
      std::max_element(fate.trapped.begin(), fate.trapped.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return worst == fate.trapped.end() ? "" : TrapWord(worst->first);
}

}  // namespace

Grid FateGrid(const View& view, const Terminal& terminal) {
  Grid grid;
  grid.columns = {{"function", {"CODE", Align::kLeft, 0, true, 24, 0}},
                  Hidden("file"),
                  Hidden("line"),
                  Hidden("module"),
                  Right("samples", "SAMPLES"),
                  Right("retired", "RETIRED"),
                  Right("killed_before_map", "KILLED EARLY", 3),
                  Right("killed_after_map", "KILLED", 2),
                  Right("trapped", "TRAPPED"),
                  {"worst_trap", {"MOSTLY", Align::kLeft, 1, false, 0, 0}},
                  Right("stalled", "STALLED"),
                  Right("icache_misses", "I-MISS", 4),
                  Hidden("in_window")};
  for (const FateView& fate : view.fates) {
    const CodeLine& where = fate.where;
    GridCell code = {
        where.short_function,
        {terminal.Safe(where.short_function), LocationText(where, terminal), false, {}}};
    grid.rows.push_back(
        {std::move(code), Both(where.file, ""), Both(where.line, ""), Both(where.module, ""),
         Both(fate.samples, HumanCount(fate.samples)), Part(fate.retired, fate.samples),
         Part(fate.killed_before_map, fate.samples), Part(fate.killed_after_map, fate.samples),
         Part(fate.Trapped(), fate.samples), Both(WorstTrap(fate), WorstTrap(fate)),
         Part(fate.stalled, fate.samples), Part(fate.icache_misses, fate.samples),
         Both(fate.in_window, "")});
  }
  return grid;
}

}  // namespace memagent::viewer
