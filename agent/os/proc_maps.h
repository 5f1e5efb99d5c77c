// /proc/PID/maps: one line for each mapping of the process.
//
//   7f1200000000-7f1200021000 r-xp 00001000 fe:00 1234    /usr/lib/libm.so.6
//
// Parsing is pure; only ReadOwnMaps calls the system. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_OS_PROC_MAPS_H_
#define MEMAGENT_AGENT_OS_PROC_MAPS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/base/containers.h"

namespace memagent::os {

struct Mapping {
  uint64_t start = 0;
  uint64_t end = 0;  // one past the last byte; always > start
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool shared = false;
  uint64_t file_offset = 0;
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode = 0;  // 0: no file behind it
  // A file's path, "[heap]", "[stack]", ... or empty; without " (deleted)". Points into the parsed
  // text. The kernel writes a newline in a name as "\012" and leaves all else alone, spaces too.
  std::string_view path;
  bool deleted = false;  // the file has been unlinked (or is really called "... (deleted)")
};

// One line without its newline; nullopt for anything the kernel would not write.
std::optional<Mapping> ParseMapsLine(std::string_view line);

// Calls on_mapping(const Mapping&) for each good line of `text`; returns how many lines were not.
template <typename F>
size_t ForEachMapping(std::string_view text, F&& on_mapping);

// The maps of this process; nullopt when /proc can't be read (not mounted, or a mount that hides
// it) or the list is longer than 64 MiB. Right also when the main thread has ended: its
// /proc/self/maps is then empty, that of any other thread is not.
std::optional<base::String> ReadOwnMaps();

// Takes the next line off `text`; a last line without newline counts.
std::string_view TakeMapsLine(std::string_view& text);

template <typename F>
size_t ForEachMapping(std::string_view text, F&& on_mapping) {
  size_t bad = 0;
  while (!text.empty()) {
    const std::string_view line = TakeMapsLine(text);
    if (const std::optional<Mapping> mapping = ParseMapsLine(line)) {
      on_mapping(*mapping);
    } else {
      ++bad;
    }
  }
  return bad;
}

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_PROC_MAPS_H_
