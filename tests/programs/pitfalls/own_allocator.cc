// Rows P12, P13, P17: a program with an allocator of its own, linked in, that maps memory while it
// holds its lock, and which stands in front of libc's lock and signal-mask functions.
//
// A hook for mmap that allocates, or that takes a lock, comes back into the allocator and waits for
// ever; calls of the agent through the program's functions would show in the counts printed.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr size_t kHeaderBytes = 16;

std::atomic_flag allocator_lock = ATOMIC_FLAG_INIT;
char* chunk = nullptr;
size_t chunk_left = 0;
std::atomic<int> maps{0};
std::atomic<int> lock_calls{0};
std::atomic<int> mask_calls{0};
std::atomic<bool> counting{false};

[[gnu::noinline]] char* alloc_chunk(size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) _exit(70);
  maps.fetch_add(1);
  return ground_truth::Kept<char>(memory);
}

// Dies instead of waiting for ever when the thread that holds the lock comes back.
thread_local bool inside = false;

void* Take(size_t size) {
  if (inside) _exit(71);
  while (allocator_lock.test_and_set()) usleep(10);
  inside = true;
  const size_t wanted = (size + kHeaderBytes + 15) & ~size_t{15};
  if (wanted > chunk_left) {
    chunk_left = wanted > kChunkBytes ? wanted : kChunkBytes;
    chunk = alloc_chunk(chunk_left);
  }
  char* block = chunk + kHeaderBytes;
  memcpy(chunk, &size, sizeof(size));
  chunk += wanted;
  chunk_left -= wanted;
  inside = false;
  allocator_lock.clear();
  return block;
}

size_t SizeOf(const void* block) {
  size_t size;
  memcpy(&size, static_cast<const char*>(block) - kHeaderBytes, sizeof(size));
  return size;
}

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

void* malloc(size_t size) { return Take(size); }
void free(void*) {}
void* calloc(size_t count, size_t size) { return Take(count * size); }
void* realloc(void* block, size_t size) {
  void* fresh = Take(size);
  if (block == nullptr) return fresh;
  const size_t old_size = SizeOf(block);
  return memcpy(fresh, block, old_size < size ? old_size : size);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static auto* const next = Next<int (*)(pthread_mutex_t*)>("pthread_mutex_lock");
  if (counting.load()) lock_calls.fetch_add(1);
  free(malloc(8));
  return next(mutex);
}

int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  static auto* const next = Next<int (*)(int, const sigset_t*, sigset_t*)>("pthread_sigmask");
  if (counting.load()) mask_calls.fetch_add(1);
  free(malloc(8));
  return next(how, set, old);
}

}  // extern "C"

namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void* Work(void*) {
  for (int i = 0; i < 1000; ++i) {
    pthread_mutex_lock(&mutex);
    auto* block = static_cast<char*>(malloc(10000));
    block[0] = 1;
    free(block);
    pthread_mutex_unlock(&mutex);
  }
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return nullptr;
}

}  // namespace

int main() {
  counting = true;
  const int maps_before = maps.load();
  pthread_t threads[3];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, Work, nullptr);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  counting = false;
  printf("%d locks, %d masks\n", lock_calls.load(), mask_calls.load());
  printf("%s maps\n", maps.load() - maps_before >= 28 ? "enough" : "too few");
  own_state::Print();
  return 3;
}
