#include "agent/os/task_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>

#include "agent/base/syscall.h"
#include "agent/os/file.h"

namespace memagent::os {
namespace {

constexpr char kFolder[] = "/proc/self/task";

// The kernel's linux_dirent64 has dirent64's layout with a shorter name.
void AddTasks(const char* entries, size_t size, base::Vector<Tid>& tasks) {
  uint16_t length = 0;
  for (size_t at = 0; at < size; at += length) {
    memcpy(&length, entries + at + offsetof(dirent64, d_reclen), sizeof(length));
    const auto tid = ParseUnsigned(std::string_view(entries + at + offsetof(dirent64, d_name)));
    if (tid) tasks.push_back(static_cast<Tid>(*tid));
  }
}

}  // namespace

// The folder has a link for each task and two of its own.
size_t CountTasks() {
  struct stat facts = {};
  if (base::Syscall(SYS_newfstatat, AT_FDCWD, kFolder, &facts, 0) != 0) return 0;
  return facts.st_nlink < 2 ? 0 : facts.st_nlink - 2;
}

size_t CountUsableCpus() {
  uint64_t mask[128] = {};  // up to 8,192 CPUs, the kernel's own limit
  const long bytes = base::Syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);
  int cpus = 0;
  for (long i = 0; i < bytes / static_cast<long>(sizeof(uint64_t)); ++i) {
    cpus += std::popcount(mask[i]);
  }
  return std::max(cpus, 1);
}

base::Vector<Tid> ListTasks() {
  base::Vector<Tid> tasks;
  const UniqueFd folder(
      base::Syscall(SYS_openat, AT_FDCWD, kFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  alignas(dirent64) char entries[2048];
  long size = 0;
  while (folder.valid() &&
         (size = base::Syscall(SYS_getdents64, folder.get(), entries, sizeof(entries))) > 0) {
    AddTasks(entries, static_cast<size_t>(size), tasks);
  }
  return tasks;
}

}  // namespace memagent::os
