// The texts that people read, whole, at 80 and 120 columns. MEMAGENT_UPDATE_GOLDEN=1 rewrites the
// files in tests/golden: read the difference before you commit it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/unit/viewer/sample_profiles.h"
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
  const std::filesystem::path folder =
      std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "golden";
  const std::filesystem::path path = folder / name;
  if (std::getenv("MEMAGENT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

std::string Report(int nodes, const Terminal& terminal) {
  return ReportText(ViewOf(StencilBytes(nodes)), {"", false, 4, "stencil.4711.memagent"}, terminal);
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

TEST(Golden, ReportInAsciiAt80Columns) {
  ExpectGolden(Report(2, Columns(80, Charset::kAscii)), "report_ascii_80.txt");
}

TEST(Golden, InfoAt80Columns) {
  ExpectGolden(InfoText(ViewOf(StencilBytes(2)), Columns(80)), "info_80.txt");
}

}  // namespace
}  // namespace memagent::viewer
