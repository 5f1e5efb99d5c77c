// FORMAT.md and the source say the same.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "agent/base/reasons.h"
#include "agent/profile/writer.h"

namespace memagent {
namespace {

std::string FormatDocument() {
  std::ifstream stream(MEMAGENT_SOURCE_DIR "/agent/profile/FORMAT.md");
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

class FormatDocumentTest : public testing::Test {
 protected:
  void SetUp() override {
    if (document_.empty()) GTEST_SKIP() << "the source tree is not where it was compiled";
  }
  template <typename Reasons>
  void ExpectRows(const Reasons& reasons) {
    for (const ReasonInfo& reason : reasons) {
      const std::string row =
          "| `" + std::string(reason.name) + "` | " + std::string(reason.meaning) + " |\n";
      EXPECT_NE(document_.find(row), std::string::npos) << "FORMAT.md lacks: " << row;
    }
  }
  const std::string document_ = FormatDocument();
};

TEST_F(FormatDocumentTest, ListsEveryReasonWithItsMeaning) {
  ExpectRows(kUnattributedReasons);
  ExpectRows(kDropReasons);
  ExpectRows(kUntrackedReasons);
}

TEST_F(FormatDocumentTest, NamesTheVersionThatIsWritten) {
  const std::string version = "This is version " + std::to_string(profile::kFormatMajor) + "." +
                              std::to_string(profile::kFormatMinor) + ".";
  EXPECT_NE(document_.find(version), std::string::npos);
}

TEST(Reasons, NamesAreSnakeCaseAndUnique) {
  std::string seen = "|";
  const auto check = [&seen](const auto& reasons) {
    for (const ReasonInfo& reason : reasons) {
      for (const char c : reason.name) EXPECT_TRUE((c >= 'a' && c <= 'z') || c == '_') << c;
      const std::string marked = "|" + std::string(reason.name) + "|";
      EXPECT_EQ(seen.find(marked), std::string::npos) << reason.name;
      seen += std::string(reason.name) + "|";
    }
  };
  check(kUnattributedReasons);
  check(kDropReasons);
  check(kUntrackedReasons);
}

}  // namespace
}  // namespace memagent
