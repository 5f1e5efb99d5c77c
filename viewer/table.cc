#include "viewer/table.h"

#include <algorithm>
#include <cmath>

#include "viewer/concat.h"

namespace memagent::viewer {
namespace {

constexpr size_t kGap = 2;  // columns between columns

size_t CellWidth(const Cell& cell) {
  const size_t tail = cell.tail.empty() ? 0 : DisplayWidth(cell.tail) + 1;
  return DisplayWidth(cell.text) + tail;
}

std::string RenderBar(const Bar& bar, size_t width, const Terminal& terminal) {
  const double all = std::clamp(bar.strong + bar.light, 0.0, 1.0);
  const auto total = static_cast<size_t>(std::lround(all * static_cast<double>(width)));
  const auto strong =
      std::min(total, static_cast<size_t>(std::lround(std::clamp(bar.strong, 0.0, 1.0) *
                                                      static_cast<double>(width))));
  std::string result;
  for (size_t i = 0; i < strong; ++i) result += terminal.Pick("▇", "#");
  for (size_t i = strong; i < total; ++i) result += terminal.Pick("░", ".");
  return result;
}

// The tail in what `text` leaves of the width, or in half of it.
std::string FitTail(const Cell& cell, size_t width, Charset charset) {
  const size_t text = DisplayWidth(cell.text);
  const size_t left = text + 1 < width ? width - text - 1 : 0;
  const size_t most = cell.text.empty() ? width : std::max(left, width / 2);
  return cell.cut_tail_at_end ? Truncate(cell.tail, most, charset)
                              : TruncateFront(cell.tail, most, charset);
}

// The cell in at most `width` columns.
std::string FitCell(const Cell& cell, size_t width, Charset charset) {
  if (cell.tail.empty()) return Truncate(cell.text, width, charset);
  const std::string tail = FitTail(cell, width, charset);
  if (cell.text.empty()) return tail;
  const size_t left = width - std::min(width, DisplayWidth(tail) + 1);
  return Concat(Truncate(cell.text, left, charset), " ", tail);
}

std::string RenderCell(const Cell& cell, const Column& column, size_t width,
                       const Terminal& terminal) {
  const bool is_bar = cell.text.empty() && cell.tail.empty();
  const std::string text =
      is_bar ? RenderBar(cell.bar, width, terminal) : FitCell(cell, width, terminal.charset);
  return column.align == Align::kLeft ? PadRight(text, width) : PadLeft(text, width);
}

std::string WithoutTrailingSpaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void Table::AddRow(std::vector<Cell> cells, Ink ink) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), ink, "", 0});
}

void Table::AddNote(std::string text, size_t indent) {
  rows_.push_back({{}, Ink::kDim, std::move(text), indent});
}

size_t Table::NaturalWidth(size_t column) const {
  size_t width = DisplayWidth(columns_[column].header);
  for (const Row& row : rows_) {
    if (row.note.empty()) width = std::max(width, CellWidth(row.cells[column]));
  }
  return width;
}

// Gives each shown column its width; false when a flexible one would get less than its minimum.
bool Table::Assign(Layout& layout, size_t width) const {
  layout.widths.clear();
  size_t used = kGap * (layout.shown.size() - 1);
  for (const size_t i : layout.shown) {
    const Column& column = columns_[i];
    layout.widths.push_back(column.flexible ? column.min_width : NaturalWidth(i));
    used += layout.widths.back();
  }
  const bool fits = used <= width;
  size_t spare = fits ? width - used : 0;
  for (size_t k = 0; k < layout.shown.size(); ++k) {
    const Column& column = columns_[layout.shown[k]];
    if (!column.flexible) continue;
    size_t wanted = column.max_width > 0 ? column.max_width : NaturalWidth(layout.shown[k]);
    wanted = std::max(wanted, column.min_width);
    const size_t more = std::min(spare, wanted - column.min_width);
    layout.widths[k] += more;
    spare -= more;
  }
  return fits;
}

Table::Layout Table::LayOut(size_t width) const {
  Layout layout;
  for (size_t i = 0; i < columns_.size(); ++i) layout.shown.push_back(i);
  while (!Assign(layout, width)) {
    const auto next = std::max_element(
        layout.shown.begin(), layout.shown.end(),
        [&](size_t a, size_t b) { return columns_[a].drop_order < columns_[b].drop_order; });
    if (columns_[*next].drop_order == 0) break;
    layout.shown.erase(next);
  }
  return layout;
}

std::string Table::RenderHeader(const Layout& layout, const Terminal& terminal) const {
  Row header;
  for (const Column& column : columns_) header.cells.push_back({column.header, "", false, {}});
  header.ink = Ink::kBold;
  return RenderRow(header, layout, terminal);
}

std::string Table::RenderRow(const Row& row, const Layout& layout, const Terminal& terminal) const {
  std::string line;
  for (size_t k = 0; k < layout.shown.size(); ++k) {
    const size_t i = layout.shown[k];
    if (k > 0) line += std::string(kGap, ' ');
    line += RenderCell(row.cells[i], columns_[i], layout.widths[k], terminal);
  }
  return Concat(terminal.Paint(WithoutTrailingSpaces(std::move(line)), row.ink), "\n");
}

std::string Table::Render(const Terminal& terminal) const {
  const Layout layout = LayOut(terminal.width);
  std::string result = RenderHeader(layout, terminal);
  for (const Row& row : rows_) {
    if (row.note.empty()) {
      result += RenderRow(row, layout, terminal);
    } else {
      const std::string indent(row.note_indent, ' ');
      const std::string text = Wrap(row.note, terminal.width, row.note_indent);
      Append(result, terminal.Paint(Concat(indent, text), row.ink), "\n");
    }
  }
  return result;
}

std::vector<std::string> Table::LeftOut(const Terminal& terminal) const {
  const Layout layout = LayOut(terminal.width);
  std::vector<std::string> names;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const bool shown = std::find(layout.shown.begin(), layout.shown.end(), i) != layout.shown.end();
    if (!shown && !columns_[i].header.empty()) names.push_back(columns_[i].header);
  }
  return names;
}

}  // namespace memagent::viewer
