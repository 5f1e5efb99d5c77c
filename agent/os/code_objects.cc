#include "agent/os/code_objects.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <span>

#include "agent/os/loaded_symbols.h"

namespace memagent::os {
namespace {

// Looked for by name: a reference to _dl_find_object@GLIBC_2.35, even a weak one, keeps the agent's
// object from loading on an older glibc.
using FindObject = int (*)(void*, dl_find_object*);
constinit std::atomic<FindObject> find_object{nullptr};

constexpr uintptr_t kPageSize = 4096;
// Clang and Chromium load about 150 objects; more than this stay unknown.
constexpr size_t kMaxObjects = 512;

struct SnapshotEntry {
  std::atomic<uintptr_t> start{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<uintptr_t> eh_frame_header{0};
};

// Readers use the half that is published; the writer fills the other one.
constinit SnapshotEntry snapshots[2][kMaxObjects];
constinit std::atomic<size_t> snapshot_sizes[2] = {};
constinit std::atomic<unsigned> published{0};

CodeObject ObjectFromHeaders(const dl_phdr_info& info) {
  CodeObject object;
  for (const ElfW(Phdr) & header : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    const uintptr_t start = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_EH_FRAME) object.eh_frame_header = start;
    if (header.p_type != PT_LOAD) continue;
    const uintptr_t page = start & ~(kPageSize - 1);
    if (object.end == 0 || page < object.start) object.start = page;
    if (start + header.p_memsz > object.end) object.end = start + header.p_memsz;
  }
  return object;
}

// The executable: the first object of the list. Only the kernel leaves gaps between the segments of
// an object, and the loader answers for each segment of such a one as if it were all. Written
// before find_object is.
constinit CodeObject program{};

int KeepProgram(dl_phdr_info* info, size_t, void*) {
  program = ObjectFromHeaders(*info);
  return 1;
}

int AddToSnapshot(dl_phdr_info* info, size_t, void* context) {
  const unsigned half = *static_cast<unsigned*>(context);
  const size_t index = snapshot_sizes[half].load(std::memory_order_relaxed);
  if (index == kMaxObjects) return 1;
  const CodeObject object = ObjectFromHeaders(*info);
  SnapshotEntry& entry = snapshots[half][index];
  entry.start.store(object.start, std::memory_order_relaxed);
  entry.end.store(object.end, std::memory_order_relaxed);
  entry.eh_frame_header.store(object.eh_frame_header, std::memory_order_relaxed);
  snapshot_sizes[half].store(index + 1, std::memory_order_relaxed);
  return 0;
}

[[gnu::constructor(101)]] void PrepareAtLoad() { PrepareCodeObjects(); }

}  // namespace

void PrepareCodeObjects() {
  if (find_object.load(std::memory_order_relaxed) != nullptr) return;
  dl_iterate_phdr(KeepProgram, nullptr);
  const LoadedSymbol found = FindLoadedSymbol("_dl_find_object", SearchFrom::kProgram);
  find_object.store(reinterpret_cast<FindObject>(found.address), std::memory_order_release);
  if (found.address == nullptr) TakeObjectSnapshot();
}

std::optional<CodeObject> FindCodeObject(uintptr_t ip) {
  const FindObject find = find_object.load(std::memory_order_acquire);
  if (find == nullptr) return FindInSnapshot(ip);
  dl_find_object found = {};
  if (find(reinterpret_cast<void*>(ip), &found) != 0) return std::nullopt;
  const auto eh_frame_header = reinterpret_cast<uintptr_t>(found.dlfo_eh_frame);
  if (eh_frame_header != 0 && eh_frame_header == program.eh_frame_header) return program;
  return CodeObject{reinterpret_cast<uintptr_t>(found.dlfo_map_start),
                    reinterpret_cast<uintptr_t>(found.dlfo_map_end), eh_frame_header};
}

void TakeObjectSnapshot() {
  unsigned half = 1 - published.load(std::memory_order_relaxed);
  snapshot_sizes[half].store(0, std::memory_order_relaxed);
  dl_iterate_phdr(AddToSnapshot, &half);
  published.store(half, std::memory_order_release);
}

std::optional<CodeObject> FindInSnapshot(uintptr_t ip) {
  const unsigned half = published.load(std::memory_order_acquire);
  const size_t size = snapshot_sizes[half].load(std::memory_order_relaxed);
  for (const SnapshotEntry& entry : std::span(snapshots[half], size)) {
    const uintptr_t start = entry.start.load(std::memory_order_relaxed);
    const uintptr_t end = entry.end.load(std::memory_order_relaxed);
    if (ip < start || ip >= end) continue;
    return CodeObject{start, end, entry.eh_frame_header.load(std::memory_order_relaxed)};
  }
  return std::nullopt;
}

}  // namespace memagent::os
