// Recorded inputs and expectation tables, which are not part of the source tree: the folder that
// the environment names in MEMAGENT_TESTDATA, else shared/testdata beside the source tree. Where it
// is absent a test skips; the vectors that matter most are written into the tests as well.
#ifndef MEMAGENT_TESTS_SUPPORT_TEST_DATA_H_
#define MEMAGENT_TESTS_SUPPORT_TEST_DATA_H_

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

// The source file's COMPILE_DEFINITIONS name the source tree (tests/unit/CMakeLists.txt).
#define MEMAGENT_NEEDS_TEST_DATA(folder)                                                    \
  if (!std::filesystem::is_directory(memagent::testing::TestDataRoot(MEMAGENT_SOURCE_DIR) / \
                                     (folder)))                                             \
  GTEST_SKIP() << "no recorded data: "                                                      \
               << memagent::testing::TestDataRoot(MEMAGENT_SOURCE_DIR) / (folder)

namespace memagent::testing {

inline std::filesystem::path TestDataRoot(const char* source_tree) {
  const char* const named = std::getenv("MEMAGENT_TESTDATA");
  return named != nullptr ? std::filesystem::path(named)
                          : std::filesystem::path(source_tree) / "../shared/testdata";
}

inline std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<uint8_t> ReadBytes(const std::filesystem::path& path) {
  const std::string text = ReadText(path);
  return {text.begin(), text.end()};
}

inline std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find(separator, start), text.size());
    parts.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

// Its lines, without their ends; empty when there is no such file.
inline std::vector<std::string> ReadLines(const std::filesystem::path& path) {
  return Split(ReadText(path), '\n');
}

}  // namespace memagent::testing

#endif  // MEMAGENT_TESTS_SUPPORT_TEST_DATA_H_
