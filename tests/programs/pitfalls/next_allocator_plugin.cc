// Rows P01, P04, P06: another preloaded tool of the usual kind, in front of the agent or behind it.
//
// It looks for the next malloc at its first use, answers what dlsym allocates meanwhile from an
// array of its own, and counts; the count is printed at the end, by raw system call.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>

namespace {

alignas(16) char start_up[16384];
std::atomic<size_t> start_up_used{0};
std::atomic<bool> looking{false};
std::atomic<unsigned> calls{0};

void* (*next_malloc)(size_t);
void* (*next_calloc)(size_t, size_t);
void* (*next_realloc)(void*, size_t);
void (*next_free)(void*);

bool FromStartUp(const void* block) {
  return block >= start_up && block < start_up + sizeof(start_up);
}

void* FromArray(size_t size) {
  const size_t offset = start_up_used.fetch_add((size + 15) & ~size_t{15});
  return offset + size <= sizeof(start_up) ? start_up + offset : nullptr;
}

// dlsym of the last name fails and allocates the text of its error.
bool Ready() {
  if (next_free != nullptr) return true;
  if (looking.exchange(true)) return false;
  next_malloc = reinterpret_cast<void* (*)(size_t)>(dlsym(RTLD_NEXT, "malloc"));
  next_calloc = reinterpret_cast<void* (*)(size_t, size_t)>(dlsym(RTLD_NEXT, "calloc"));
  next_realloc = reinterpret_cast<void* (*)(void*, size_t)>(dlsym(RTLD_NEXT, "realloc"));
  dlsym(RTLD_NEXT, "no such allocator function");
  next_free = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_NEXT, "free"));
  return true;
}

[[gnu::destructor]] void Say() {
  char text[] = "other tool: it was called\n";
  if (calls.load() > 0) syscall(SYS_write, 2, text, sizeof(text) - 1);
}

}  // namespace

#define EXPORTED extern "C" [[gnu::visibility("default")]]

EXPORTED void* malloc(size_t size) {
  if (!Ready()) return FromArray(size);
  calls.fetch_add(1);
  return next_malloc(size);
}

EXPORTED void* calloc(size_t count, size_t size) {
  return Ready() ? next_calloc(count, size) : FromArray(count * size);
}

EXPORTED void* realloc(void* block, size_t size) {
  if (!Ready()) return FromArray(size);
  if (!FromStartUp(block)) return next_realloc(block, size);
  void* fresh = next_malloc(size);
  const auto left = static_cast<size_t>(start_up + sizeof(start_up) - static_cast<char*>(block));
  return fresh == nullptr ? nullptr : memcpy(fresh, block, size < left ? size : left);
}

EXPORTED void free(void* block) {
  if (block != nullptr && !FromStartUp(block) && Ready()) next_free(block);
}
