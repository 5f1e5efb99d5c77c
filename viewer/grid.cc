#include "viewer/grid.h"

#include <algorithm>
#include <utility>

#include "viewer/concat.h"

namespace memagent::viewer {
namespace {

bool IsForPeople(const GridColumn& column) { return !column.look.header.empty(); }
bool IsForMachines(const GridColumn& column) { return !column.key.empty(); }

// A name, harmless on a terminal, and no formula for a spreadsheet program (CWE-1236).
std::string CsvText(std::string_view name) {
  const std::string text = Printable(name, Charset::kUtf8);
  const bool formula =
      !text.empty() && std::string_view("=+-@").find(text[0]) != std::string_view::npos;
  return formula ? "'" + text : text;
}

std::string CsvField(const Json& value) {
  if (value.is_null()) return "";
  const std::string text = value.is_string() ? CsvText(value.get<std::string>()) : value.dump();
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string MarkdownField(const Cell& cell) {
  std::string text = cell.text;
  if (!cell.tail.empty()) Append(text, text.empty() ? "" : " ", cell.tail);
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("|\\`*_<>[]&~").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::string GridText(const Grid& grid, size_t most, const Terminal& terminal) {
  std::vector<Column> columns;
  for (const GridColumn& column : grid.columns) {
    if (IsForPeople(column)) columns.push_back(column.look);
  }
  Table table(std::move(columns));
  const size_t rows = std::min(most, grid.rows.size());
  for (size_t r = 0; r < rows; ++r) {
    std::vector<Cell> cells;
    for (size_t c = 0; c < grid.columns.size(); ++c) {
      if (IsForPeople(grid.columns[c])) cells.push_back(grid.rows[r][c].shown);
    }
    table.AddRow(std::move(cells));
  }
  if (rows < grid.rows.size()) {
    table.AddNote(Concat(grid.rows.size() - rows, " more rows: --all."), 0);
  }
  return table.Render(terminal);
}

std::string GridCsv(const Grid& grid) {
  std::string text;
  const auto add_line = [&](auto field_of) {
    bool first = true;
    for (size_t c = 0; c < grid.columns.size(); ++c) {
      if (!IsForMachines(grid.columns[c])) continue;
      Append(text, first ? "" : ",", field_of(c));
      first = false;
    }
    text += '\n';
  };
  add_line([&](size_t c) { return grid.columns[c].key; });
  for (const auto& row : grid.rows) {
    add_line([&](size_t c) { return CsvField(row[c].value); });
  }
  return text;
}

std::string GridMarkdown(const Grid& grid) {
  std::string text = "|";
  std::string rule = "|";
  for (const GridColumn& column : grid.columns) {
    if (!IsForPeople(column)) continue;
    Append(text, " ", column.look.header, " |");
    rule += column.look.align == Align::kRight ? " ---: |" : " --- |";
  }
  Append(text, "\n", rule, "\n");
  for (const auto& row : grid.rows) {
    text += "|";
    for (size_t c = 0; c < grid.columns.size(); ++c) {
      if (IsForPeople(grid.columns[c])) Append(text, " ", MarkdownField(row[c].shown), " |");
    }
    text += "\n";
  }
  return text;
}

Json GridJson(const Grid& grid) {
  Json rows = Json::array();
  for (const auto& row : grid.rows) {
    Json object = Json::object();
    for (size_t c = 0; c < grid.columns.size(); ++c) {
      if (IsForMachines(grid.columns[c])) object[grid.columns[c].key] = row[c].value;
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

}  // namespace memagent::viewer
