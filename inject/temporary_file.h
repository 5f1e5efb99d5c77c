// A file for the time of one run.
#ifndef MEMAGENT_INJECT_TEMPORARY_FILE_H_
#define MEMAGENT_INJECT_TEMPORARY_FILE_H_

#include <string>
#include <string_view>

namespace memagent::inject {

// Ours alone (mkstemp makes it 0600), in $TMPDIR, /tmp or the working directory; gone when the
// object is. Path "" when no folder could hold it.
class TemporaryFile {
 public:
  // `name`: how the file's name begins.
  explicit TemporaryFile(std::string_view name);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  std::string Read() const;
  // False when not all of it could be written.
  bool Write(std::string_view text) const;

 private:
  std::string path_;
};

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_TEMPORARY_FILE_H_
