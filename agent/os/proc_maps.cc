#include "agent/os/proc_maps.h"

#include "agent/os/file.h"

namespace memagent::os {
namespace {

constexpr std::string_view kDeleted = " (deleted)";
// 65530 mappings (vm.max_map_count) of 100 bytes are 6.5 MB; paths and raised limits make more.
constexpr size_t kMaxMapsBytes = size_t{64} << 20;

bool ParseRange(std::string_view text, Mapping& mapping) {
  const auto start = ParseUnsigned(TakeUntil(text, '-'), 16);
  const auto end = ParseUnsigned(text, 16);
  if (!start || !end || *end <= *start) return false;
  mapping.start = *start;
  mapping.end = *end;
  return true;
}

bool ParsePermissions(std::string_view text, Mapping& mapping) {
  constexpr std::string_view kLetters = "rwx";
  if (text.size() != 4 || (text[3] != 'p' && text[3] != 's')) return false;
  for (size_t i = 0; i < kLetters.size(); ++i) {
    if (text[i] != kLetters[i] && text[i] != '-') return false;
  }
  mapping.readable = text[0] == 'r';
  mapping.writable = text[1] == 'w';
  mapping.executable = text[2] == 'x';
  mapping.shared = text[3] == 's';
  return true;
}

bool ParseDevice(std::string_view text, Mapping& mapping) {
  const auto major = ParseUnsigned(TakeUntil(text, ':'), 16);
  const auto minor = ParseUnsigned(text, 16);
  if (!major || !minor || *major > UINT32_MAX || *minor > UINT32_MAX) return false;
  mapping.device_major = static_cast<uint32_t>(*major);
  mapping.device_minor = static_cast<uint32_t>(*minor);
  return true;
}

void SetPath(std::string_view path, Mapping& mapping) {
  if (path.size() > kDeleted.size() && path.ends_with(kDeleted)) {
    path.remove_suffix(kDeleted.size());
    mapping.deleted = true;
  }
  mapping.path = path;
}

}  // namespace

std::optional<Mapping> ParseMapsLine(std::string_view line) {
  Mapping mapping;
  if (!ParseRange(TakeUntil(line, ' '), mapping)) return std::nullopt;
  if (!ParsePermissions(TakeUntil(line, ' '), mapping)) return std::nullopt;
  const auto offset = ParseUnsigned(TakeUntil(line, ' '), 16);
  if (!offset || !ParseDevice(TakeUntil(line, ' '), mapping)) return std::nullopt;
  const auto inode = ParseUnsigned(TakeUntil(line, ' '));
  if (!inode) return std::nullopt;
  mapping.file_offset = *offset;
  mapping.inode = *inode;
  // The kernel pads with blanks up to the name, which starts with '/', '[' or a letter; a name that
  // starts with blanks itself can't be told from the padding.
  while (line.starts_with(' ')) line.remove_prefix(1);
  SetPath(line, mapping);
  return mapping;
}

std::string_view TakeMapsLine(std::string_view& text) { return TakeUntil(text, '\n'); }

std::optional<base::String> ReadOwnMaps() {
  std::optional<base::String> text = ReadWholeFile("/proc/thread-self/maps", kMaxMapsBytes);
  if (!text) text = ReadWholeFile("/proc/self/maps", kMaxMapsBytes);
  return text;
}

}  // namespace memagent::os
