#include "tests/stacks/counts.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "agent/capture/unwind_table.h"
#include "agent/os/code_objects.h"

namespace memagent::stacks {
namespace {

Entry* entries = nullptr;

// The same place has the same key in every process, wherever its library lies.
uint64_t KeyOf(Oracle oracle, Outcome outcome, uintptr_t last_common) {
  uint64_t offset = 0;
  uint64_t size = 0;
  if (const auto object = os::FindCodeObject(last_common - 1)) {
    offset = last_common - object->start;
    size = object->end - object->start;
  }
  uint64_t key = 1;
  for (const uint64_t part :
       {static_cast<uint64_t>(oracle), static_cast<uint64_t>(outcome), offset, size}) {
    key = (key ^ part) * 0x9e3779b97f4a7c15;
    key ^= key >> 29;
  }
  return key | 1;
}

void Describe(Entry& entry, uintptr_t last_common) {
  if (last_common == 0) return;
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(last_common - 1), &info) == 0) {
    std::snprintf(entry.where, sizeof(entry.where), "outside of all modules");
    return;
  }
  const char* slash = std::strrchr(info.dli_fname, '/');
  const char* module = slash == nullptr ? info.dli_fname : slash + 1;
  const uintptr_t base = reinterpret_cast<uintptr_t>(info.dli_fbase);
  std::snprintf(entry.where, sizeof(entry.where), "%s+%#lx %s", module,
                static_cast<unsigned long>(last_common - base),
                info.dli_sname == nullptr ? "?" : info.dli_sname);
}

}  // namespace

bool OpenCounts(const char* path) {
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  void* memory =
      mmap(nullptr, kEntries * sizeof(Entry), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return false;
  entries = static_cast<Entry*>(memory);
  return true;
}

void Count(Oracle oracle, Outcome outcome, uintptr_t last_common) {
  const uint64_t key = KeyOf(oracle, outcome, last_common);
  for (size_t i = 0; i < kEntries; ++i) {
    Entry& entry = entries[(key + i) % kEntries];
    uint64_t found = entry.key.load(std::memory_order_acquire);
    if (found == 0 && entry.key.compare_exchange_strong(found, key)) {
      entry.oracle = oracle;
      entry.outcome = outcome;
      if (last_common != 0) entry.rule = capture::LookUpRule(last_common - 1).kind();
      Describe(entry, last_common);
      found = key;
    }
    if (found != key) continue;
    entry.count.fetch_add(1, std::memory_order_relaxed);
    return;
  }
}

}  // namespace memagent::stacks
