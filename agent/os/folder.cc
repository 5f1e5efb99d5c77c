#include "agent/os/folder.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "agent/base/syscall.h"
#include "agent/os/file.h"

namespace memagent::os {
namespace {

// The kernel's linux_dirent64 has dirent64's layout with a shorter name.
void AddNames(const char* entries, size_t size, base::Vector<base::String>& names) {
  uint16_t length = 0;
  for (size_t at = 0; at < size; at += length) {
    memcpy(&length, entries + at + offsetof(dirent64, d_reclen), sizeof(length));
    const std::string_view name(entries + at + offsetof(dirent64, d_name));
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

}  // namespace

base::Vector<base::String> ListFolder(const char* path) {
  base::Vector<base::String> names;
  const UniqueFd folder(
      base::Syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  alignas(dirent64) char entries[2048];
  long size = 0;
  while (folder.valid() &&
         (size = base::Syscall(SYS_getdents64, folder.get(), entries, sizeof(entries))) > 0) {
    AddNames(entries, static_cast<size_t>(size), names);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace memagent::os
