// Bytes recorded on Arm hardware, and what perf 7.2 makes of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/spe_text.h"
#include "tests/support/test_data.h"

namespace memagent::decode {
namespace {

using memagent::testing::ReadBytes;
using memagent::testing::ReadLines;
using memagent::testing::TestDataRoot;

std::filesystem::path Folder() { return TestDataRoot(MEMAGENT_SOURCE_DIR) / "spe"; }

// The recorded strings; perf was given them filled up to a multiple of 8 bytes.
std::vector<std::filesystem::path> Recordings() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(Folder())) {
    if (entry.path().extension() == ".bin") paths.push_back(entry.path());
  }
  EXPECT_GE(paths.size(), 10u);
  return paths;
}

std::vector<uint8_t> Padded(const std::filesystem::path& path) {
  std::vector<uint8_t> bytes = ReadBytes(path);
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return bytes;
}

TEST(SpeRecorded, PacketsAreThoseThatPerfLists) {
  MEMAGENT_NEEDS_TEST_DATA("spe");
  size_t packets = 0;
  for (std::filesystem::path path : Recordings()) {
    const std::vector<std::string> ours = memagent::testing::SpeListing(Padded(path));
    std::vector<std::string> theirs = ReadLines(path.replace_extension(".perf72-packets.txt"));
    ASSERT_FALSE(theirs.empty()) << path;
    theirs.erase(theirs.begin());  // a heading
    while (!theirs.empty() && theirs.back().empty()) theirs.pop_back();
    EXPECT_EQ(ours, theirs) << path;
    packets += ours.size();
  }
  RecordProperty("packets", static_cast<int>(packets));
}

TEST(SpeRecorded, OperationsAreNamedAsPerfNamesThem) {
  MEMAGENT_NEEDS_TEST_DATA("spe");
  int rows = 0;
  for (const std::string& line : ReadLines(Folder() / "oracle_optype_0x49.txt")) {
    const auto payload = static_cast<uint8_t>(std::stoi(line.substr(3, 2), nullptr, 16));
    const std::vector<uint8_t> bytes = {0x49, payload};
    EXPECT_EQ(memagent::testing::SpePacketText(ParseSpePacket(bytes, 0)),
              line.substr(line.find_first_of("LS")));
    ++rows;
  }
  EXPECT_EQ(rows, 36);
}

}  // namespace
}  // namespace memagent::decode
