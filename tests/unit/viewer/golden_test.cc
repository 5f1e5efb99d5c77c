// The texts that people read, whole, at 80 and 120 columns. MEMAGENT_UPDATE_GOLDEN=1 rewrites the
// files in tests/golden: read the difference before you commit it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/viewer/placed_site.h"
#include "tests/unit/viewer/sample_profiles.h"
#include "viewer/diff_text.h"
#include "viewer/info_text.h"
#include "viewer/report_text.h"

namespace memagent::viewer {
namespace {

Terminal Columns(size_t width, Charset charset = Charset::kUtf8) {
  Terminal terminal;
  terminal.width = width;
  terminal.charset = charset;
  return terminal;
}

void ExpectGolden(const std::string& text, const std::string& name) {
  const std::filesystem::path path =
      std::filesystem::path(MEMAGENT_SOURCE_DIR) / "tests/golden" / name;
  if (std::getenv("MEMAGENT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

std::string Report(int nodes, const Terminal& terminal, bool hardware = false) {
  return ReportText(ViewOf(StencilBytes(nodes, hardware)), {"", false, 4, "stencil.4711.memagent"},
                    terminal);
}

TEST(Golden, ReportOfOneNodeAt80Columns) {
  ExpectGolden(Report(1, Columns(80)), "report_one_node_80.txt");
}

TEST(Golden, ReportOfOneNodeAt120Columns) {
  ExpectGolden(Report(1, Columns(120)), "report_one_node_120.txt");
}

TEST(Golden, ReportOfTwoNodesAt80Columns) {
  ExpectGolden(Report(2, Columns(80)), "report_two_nodes_80.txt");
}

TEST(Golden, ReportOfTwoNodesAt120Columns) {
  ExpectGolden(Report(2, Columns(120)), "report_two_nodes_120.txt");
}

TEST(Golden, ReportOfHardwareAt80Columns) {
  ExpectGolden(Report(2, Columns(80), true), "report_hardware_80.txt");
}

TEST(Golden, ReportOfHardwareAt120Columns) {
  ExpectGolden(Report(2, Columns(120), true), "report_hardware_120.txt");
}

TEST(Golden, ReportInAsciiAt80Columns) {
  ExpectGolden(Report(2, Columns(80, Charset::kAscii)), "report_ascii_80.txt");
}

// The stencil before and after its grid was spread over both nodes, and a buffer added.
std::string DiffOfTwoRuns(const Terminal& terminal) {
  const View before = ViewOf(StencilBytes(2));
  View after = ViewOf(StencilBytes(2));
  SiteView& grid = after.sites[0];
  after.tally.attributed -= 3000;
  after.tally.seen -= 3000;
  after.wall_nanos -= 1'500'000'000;
  grid.samples -= 3000;
  grid.located_samples -= 3000;
  grid.remote_samples = 200;
  after.located_samples -= 3000;
  after.remote_samples = 200;
  after.sites[1].stack[2].function = "read_all";
  after.sites[2].kind = "tls";
  after.sites[0].pages = {{0, 524'288}, {1, 524'288}};
  after.sites[0].first_touch[0].thread = 2;
  after.sites[0].first_touch.push_back(after.sites[0].first_touch[0]);
  after.sites[0].first_touch.back().thread = 3;
  const DiffSide sides[] = {{before, "before.memagent"}, {after, "after.memagent"}};
  return DiffText(Compare(sides[0], sides[1]), sides[0], sides[1], false, terminal);
}

// A table that both nodes use, on one of them, then interleaved.
std::string DiffOfSpreadTable(const Terminal& terminal) {
  PlacedSite bound;
  PlacedSite interleaved;
  for (int thread = 0; thread < 4; ++thread) {
    bound.Use(thread, thread % 2, 0, 1000);
    interleaved.Use(thread, thread % 2, 0, 504).Use(thread, thread % 2, 1, 496);
  }
  bound.Pages(0, 16'384).Touch(0, 0, 16'384);
  interleaved.Pages(0, 8192).Pages(1, 8192).Touch(0, 0, 16'384);
  const View before = bound.Build();
  const View after = interleaved.Build();
  const DiffSide sides[] = {{before, "before.memagent"}, {after, "after.memagent"}};
  return DiffText(Compare(sides[0], sides[1]), sides[0], sides[1], false, terminal);
}

// Three runs before, two after, in which hardware told latencies.
std::string DiffOfFiveRuns(const Terminal& terminal) {
  std::vector<View> views;
  for (int i = 0; i < 5; ++i) views.push_back(ViewOf(StencilBytes(2, true)));
  DiffSide before;
  DiffSide after;
  const int64_t wall[] = {0, 120, -70, -1500, -1430};
  for (size_t i = 0; i < views.size(); ++i) {
    View& view = views[i];
    view.wall_nanos += static_cast<uint64_t>(wall[i]) * 1'000'000;
    view.sites[0].remote_samples += 40 * i;
    view.remote_samples += 40 * i;
    if (i >= 3) {
      view.remote_samples -= view.sites[0].remote_samples - 100 * i;
      view.sites[0].remote_samples = 100 * i;
      view.sites[0].access.latency.cycles /= 2;
      view.access.latency.cycles -= view.sites[0].access.latency.cycles;
    }
    (i < 3 ? before : after).Add(view, "run" + std::to_string(i) + ".memagent");
  }
  return DiffText(Compare(before, after), before, after, false, terminal);
}

// The engines differ, and so do the machines' nodes.
std::string DiffOfOtherMeasurements(const Terminal& terminal) {
  const View before = ViewOf(StencilBytes(2));
  const View after = ViewOf(StencilBytes(1, true));
  const DiffSide sides[] = {{before, "before.memagent"}, {after, "after.memagent"}};
  return DiffText(Compare(sides[0], sides[1]), sides[0], sides[1], false, terminal);
}

TEST(Golden, DiffAt80Columns) { ExpectGolden(DiffOfTwoRuns(Columns(80)), "diff_80.txt"); }

TEST(Golden, DiffAt120Columns) { ExpectGolden(DiffOfTwoRuns(Columns(120)), "diff_120.txt"); }

TEST(Golden, DiffInAsciiAt80Columns) {
  ExpectGolden(DiffOfTwoRuns(Columns(80, Charset::kAscii)), "diff_ascii_80.txt");
}

TEST(Golden, DiffOfSeveralRunsAt80Columns) {
  ExpectGolden(DiffOfFiveRuns(Columns(80)), "diff_runs_80.txt");
}

TEST(Golden, DiffOfSeveralRunsAt120Columns) {
  ExpectGolden(DiffOfFiveRuns(Columns(120)), "diff_runs_120.txt");
}

TEST(Golden, DiffOfSpreadTableAt120Columns) {
  ExpectGolden(DiffOfSpreadTable(Columns(120)), "diff_spread_120.txt");
}

TEST(Golden, DiffOfWhatCannotBeComparedAt80Columns) {
  ExpectGolden(DiffOfOtherMeasurements(Columns(80)), "diff_other_80.txt");
}

TEST(Golden, InfoAt80Columns) {
  ExpectGolden(InfoText(ViewOf(StencilBytes(2)), Columns(80)), "info_80.txt");
}

}  // namespace
}  // namespace memagent::viewer
