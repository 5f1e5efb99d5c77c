#include "viewer/table.h"

#include <gtest/gtest.h>

#include <string>

namespace memagent::viewer {
namespace {

Terminal Columns(size_t width) {
  Terminal terminal;
  terminal.width = width;
  return terminal;
}

Cell Text(std::string text, std::string tail = "") {
  return {std::move(text), std::move(tail), false, {}};
}

Table Sample() {
  Table table({{"NAME", Align::kLeft, 0, true, 6, 0},
               {"KIND", Align::kLeft, 1, false, 0, 0},
               {"N", Align::kRight, 0, false, 0, 0}});
  table.AddRow({Text("a_long_function", "f.cc:1"), Text("heap"), Text("12")});
  table.AddRow({Text("b"), Text("mmap"), Text("7")});
  return table;
}

TEST(Table, WideEnoughShowsEverythingAligned) {
  EXPECT_EQ(Sample().Render(Columns(80)),
            "NAME                    KIND   N\n"
            "a_long_function f.cc:1  heap  12\n"
            "b                       mmap   7\n");
}

TEST(Table, NarrowCutsTheTextAndKeepsItsTail) {
  EXPECT_EQ(Sample().Render(Columns(24)),
            "NAME            KIND   N\n"
            "a_long… f.cc:1  heap  12\n"
            "b               mmap   7\n");
}

TEST(Table, LongTailLeavesTheTextHalf) {
  Table table({{"A", Align::kLeft, 0, true, 12, 12}});
  table.AddRow({Text("function", "a_long_file.cc:123")});
  table.AddRow({{"function", "<- a_long_caller", true, {}}});
  EXPECT_EQ(table.Render(Columns(12)), "A\nfunc… …c:123\nfunc… <- a_…\n");
}

TEST(Table, TooNarrowLeavesOutTheLeastImportantColumn) {
  EXPECT_EQ(Sample().LeftOut(Columns(80)).size(), 0u);
  EXPECT_EQ(Sample().LeftOut(Columns(12)), std::vector<std::string>{"KIND"});
}

TEST(Table, BarsFillTheirColumn) {
  Table table({{"", Align::kLeft, 0, true, 10, 10}});
  table.AddRow({{"", "", false, {0.3, 0.2}}});
  EXPECT_EQ(table.Render(Columns(80)), "\n▇▇▇░░\n");
}

TEST(Table, MissingCellsAreEmpty) {
  Table table({{"A", Align::kLeft, 0, false, 0, 0}, {"B", Align::kLeft, 0, false, 0, 0}});
  table.AddRow({Text("x")});
  EXPECT_EQ(table.Render(Columns(80)), "A  B\nx\n");
}

TEST(Table, NotesWrapWithTheirIndent) {
  Table table({{"A", Align::kLeft, 0, false, 0, 0}});
  table.AddNote("one two three", 2);
  EXPECT_EQ(table.Render(Columns(10)), "A\n  one two\n  three\n");
}

}  // namespace
}  // namespace memagent::viewer
