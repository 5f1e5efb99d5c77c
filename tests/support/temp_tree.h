// A folder with files that a test makes, gone with the object: fake /proc and /sys trees.
#ifndef MEMAGENT_TESTS_SUPPORT_TEMP_TREE_H_
#define MEMAGENT_TESTS_SUPPORT_TEMP_TREE_H_

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace memagent::testing {

class TempTree {
 public:
  TempTree() {
    std::string name = (std::filesystem::temp_directory_path() / "memagent.XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~TempTree() { std::filesystem::remove_all(root_); }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;

  const std::string& root() const { return root_; }
  // `path` is relative to the root; folders are made on the way.
  std::string Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

 private:
  std::string root_;
};

}  // namespace memagent::testing

#endif  // MEMAGENT_TESTS_SUPPORT_TEMP_TREE_H_
