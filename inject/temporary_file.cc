#include "inject/temporary_file.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace memagent::inject {

TemporaryFile::TemporaryFile(std::string_view name) {
  const char* folder = getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): one thread
  const bool named = folder != nullptr && *folder != '\0';
  for (const std::string& place : {std::string(named ? folder : "/tmp"), std::string(".")}) {
    std::string path = place + "/" + std::string(name) + ".XXXXXX";
    const int fd = mkstemp(path.data());
    if (fd < 0) continue;
    close(fd);
    char* absolute = realpath(path.c_str(), nullptr);
    path_ = absolute != nullptr ? absolute : path;
    free(absolute);
    return;
  }
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

std::string TemporaryFile::Read() const {
  std::ifstream file(path_, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

bool TemporaryFile::Write(std::string_view text) const {
  std::ofstream file(path_, std::ios::binary | std::ios::trunc);
  file << text;
  return static_cast<bool>(file.flush());
}

}  // namespace memagent::inject
