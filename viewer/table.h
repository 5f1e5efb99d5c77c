// Tables for a terminal: columns share a width, the least important ones make room first.
#ifndef MEMAGENT_VIEWER_TABLE_H_
#define MEMAGENT_VIEWER_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "viewer/terminal.h"

namespace memagent::viewer {

enum class Align { kLeft, kRight };

struct Column {
  std::string header;
  Align align = Align::kLeft;
  // 0: always there. Otherwise the column with the highest number is the first to be left out when
  // the flexible columns would get less than their minimum.
  int drop_order = 0;
  // A flexible column takes what the others leave, between these bounds; its cells are cut to fit.
  // Other columns are as wide as their widest cell.
  bool flexible = false;
  size_t min_width = 0;
  size_t max_width = 0;  // 0: no bound
};

// A bar: filled for `strong`, light for `light`, both as a part (0..1) of the column's width.
struct Bar {
  double strong = 0;
  double light = 0;
};

struct Cell {
  std::string text;
  std::string tail;  // after a space; cut only when it would leave `text` less than half
  bool cut_tail_at_end = false;  // false: at its front, so that "file.cc:12" keeps its line
  Bar bar;                       // drawn when text is empty
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell for each column, already printable (Terminal::Safe).
  void AddRow(std::vector<Cell> cells, Ink ink = Ink::kPlain);
  // A line below the row before it that spans the table; wrapped.
  void AddNote(std::string text, size_t indent);

  // Ends with a newline. No trailing spaces.
  std::string Render(const Terminal& terminal) const;
  // Headers of the columns that Render leaves out at this width.
  std::vector<std::string> LeftOut(const Terminal& terminal) const;

 private:
  struct Row {
    std::vector<Cell> cells;
    Ink ink = Ink::kPlain;
    std::string note;  // not empty: the row is a note
    size_t note_indent = 0;
  };
  struct Layout {
    std::vector<size_t> shown;   // column indexes, in order
    std::vector<size_t> widths;  // of the shown ones
  };

  size_t NaturalWidth(size_t column) const;
  Layout LayOut(size_t width) const;
  bool Assign(Layout& layout, size_t width) const;
  std::string RenderRow(const Row& row, const Layout& layout, const Terminal& terminal) const;
  std::string RenderHeader(const Layout& layout, const Terminal& terminal) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_TABLE_H_
