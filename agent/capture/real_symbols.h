// The functions that the hooks stand in front of: what the program would have called without us.
//
// Found by os/loaded_symbols.h: the next definition in the global order, so that another preloaded
// allocator keeps its place (pitfalls P06). A function the next object lacks stays nullptr, and the
// hook says what it does then.
#ifndef MEMAGENT_AGENT_CAPTURE_REAL_SYMBOLS_H_
#define MEMAGENT_AGENT_CAPTURE_REAL_SYMBOLS_H_

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <type_traits>

namespace memagent::capture {

// (name, type): one row for each function that is forwarded by name.
#define MEMAGENT_REAL_SYMBOLS(X)                                                         \
  X(malloc, void* (*)(size_t))                                                           \
  X(calloc, void* (*)(size_t, size_t))                                                   \
  X(realloc, void* (*)(void*, size_t))                                                   \
  X(free, void (*)(void*))                                                               \
  X(memalign, void* (*)(size_t, size_t))                                                 \
  X(aligned_alloc, void* (*)(size_t, size_t))                                            \
  X(posix_memalign, int (*)(void**, size_t, size_t))                                     \
  X(valloc, void* (*)(size_t))                                                           \
  X(pvalloc, void* (*)(size_t))                                                          \
  X(malloc_usable_size, size_t (*)(void*))                                               \
  X(mmap, void* (*)(void*, size_t, int, int, int, off_t))                                \
  X(munmap, int (*)(void*, size_t))                                                      \
  X(mremap, void* (*)(void*, size_t, size_t, int, void*))                                \
  X(brk, int (*)(void*))                                                                 \
  X(sbrk, void* (*)(intptr_t))                                                           \
  X(shmat, void* (*)(int, const void*, int))                                             \
  X(shmdt, int (*)(const void*))                                                         \
  X(madvise, int (*)(void*, size_t, int))                                                \
  X(pthread_create, int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)) \
  X(execve, int (*)(const char*, char* const*, char* const*))                            \
  X(execvpe, int (*)(const char*, char* const*, char* const*))                           \
  X(fexecve, int (*)(int, char* const*, char* const*))                                   \
  X(execveat, int (*)(int, const char*, char* const*, char* const*, int))                \
  X(posix_spawn, int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*,         \
                         const posix_spawnattr_t*, char* const*, char* const*))          \
  X(posix_spawnp, int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*,        \
                          const posix_spawnattr_t*, char* const*, char* const*))         \
  X(prctl, int (*)(int, unsigned long, unsigned long, unsigned long, unsigned long))     \
  X(syscall, long (*)(long, long, long, long, long, long, long))                         \
  X(setuid, int (*)(uid_t))                                                              \
  X(setgid, int (*)(gid_t))                                                              \
  X(seteuid, int (*)(uid_t))                                                             \
  X(setegid, int (*)(gid_t))                                                             \
  X(setreuid, int (*)(uid_t, uid_t))                                                     \
  X(setregid, int (*)(gid_t, gid_t))                                                     \
  X(setresuid, int (*)(uid_t, uid_t, uid_t))                                             \
  X(setresgid, int (*)(gid_t, gid_t, gid_t))                                             \
  X(setgroups, int (*)(size_t, const gid_t*))                                            \
  X(capset, int (*)(void*, const void*))                                                 \
  X(fork, pid_t (*)())                                                                   \
  X(_Fork, pid_t (*)())                                                                  \
  X(exit, void (*)(int))                                                                 \
  X(sigaction, int (*)(int, const struct sigaction*, struct sigaction*))                 \
  X(signal, void (*(*)(int, void (*)(int)))(int))                                        \
  X(bsd_signal, void (*(*)(int, void (*)(int)))(int))                                    \
  X(ssignal, void (*(*)(int, void (*)(int)))(int))                                       \
  X(sysv_signal, void (*(*)(int, void (*)(int)))(int))                                   \
  X(__sysv_signal, void (*(*)(int, void (*)(int)))(int))                                 \
  X(sigset, void (*(*)(int, void (*)(int)))(int))                                        \
  X(unshare, int (*)(int))                                                               \
  X(setns, int (*)(int, int))                                                            \
  X(dlclose, int (*)(void*))                                                             \
  X(sched_setaffinity, int (*)(pid_t, size_t, const cpu_set_t*))                         \
  X(pthread_setaffinity_np, int (*)(pthread_t, size_t, const cpu_set_t*))                \
  X(_exit, void (*)(int))                                                                \
  X(abort, void (*)())

// operator new and delete: (field, mangled name, type).
#define MEMAGENT_REAL_OPERATORS(X)                                                       \
  X(new_one, "_Znwm", void* (*)(size_t))                                                 \
  X(new_array, "_Znam", void* (*)(size_t))                                               \
  X(new_one_nothrow, "_ZnwmRKSt9nothrow_t", void* (*)(size_t, const void*))              \
  X(new_array_nothrow, "_ZnamRKSt9nothrow_t", void* (*)(size_t, const void*))            \
  X(new_one_aligned, "_ZnwmSt11align_val_t", void* (*)(size_t, size_t))                  \
  X(new_array_aligned, "_ZnamSt11align_val_t", void* (*)(size_t, size_t))                \
  X(new_one_aligned_nothrow, "_ZnwmSt11align_val_tRKSt9nothrow_t",                       \
    void* (*)(size_t, size_t, const void*))                                              \
  X(new_array_aligned_nothrow, "_ZnamSt11align_val_tRKSt9nothrow_t",                     \
    void* (*)(size_t, size_t, const void*))                                              \
  X(delete_one, "_ZdlPv", void (*)(void*))                                               \
  X(delete_array, "_ZdaPv", void (*)(void*))                                             \
  X(delete_one_nothrow, "_ZdlPvRKSt9nothrow_t", void (*)(void*, const void*))            \
  X(delete_array_nothrow, "_ZdaPvRKSt9nothrow_t", void (*)(void*, const void*))          \
  X(delete_one_sized, "_ZdlPvm", void (*)(void*, size_t))                                \
  X(delete_array_sized, "_ZdaPvm", void (*)(void*, size_t))                              \
  X(delete_one_aligned, "_ZdlPvSt11align_val_t", void (*)(void*, size_t))                \
  X(delete_array_aligned, "_ZdaPvSt11align_val_t", void (*)(void*, size_t))              \
  X(delete_one_aligned_nothrow, "_ZdlPvSt11align_val_tRKSt9nothrow_t",                   \
    void (*)(void*, size_t, const void*))                                                \
  X(delete_array_aligned_nothrow, "_ZdaPvSt11align_val_tRKSt9nothrow_t",                 \
    void (*)(void*, size_t, const void*))                                                \
  X(delete_one_sized_aligned, "_ZdlPvmSt11align_val_t", void (*)(void*, size_t, size_t)) \
  X(delete_array_sized_aligned, "_ZdaPvmSt11align_val_t", void (*)(void*, size_t, size_t))

struct RealSymbols {
#define MEMAGENT_REAL_FIELD(name, ...) std::type_identity_t<__VA_ARGS__> name;
  MEMAGENT_REAL_SYMBOLS(MEMAGENT_REAL_FIELD)
#undef MEMAGENT_REAL_FIELD
#define MEMAGENT_REAL_FIELD(name, symbol, ...) std::type_identity_t<__VA_ARGS__> name;
  MEMAGENT_REAL_OPERATORS(MEMAGENT_REAL_FIELD)
#undef MEMAGENT_REAL_FIELD
};

extern constinit RealSymbols real;

// What the program's calls reach where another object's definition is ahead of ours (an
// executable's own malloc, an allocator or interposer before us in LD_PRELOAD); nullptr where ours
// are called. What libc makes of these (reallocarray of realloc) we make of them too: two heaps
// must not be mixed (pitfalls P55).
struct HeapAhead {
  void* (*malloc)(size_t);
  void* (*realloc)(void*, size_t);
  void* (*aligned_alloc)(size_t, size_t);
  void (*free)(void*);
};
extern constinit HeapAhead heap_ahead;

// True once `real` is complete. Until then allocation hooks use the bootstrap heap.
extern constinit std::atomic<bool> real_ready;

// Fills `real` unless that is done or under way: called from the constructor, or by the first hook
// when that runs earlier. Allocates nothing. Calling thread: any.
void ResolveRealSymbols();

// True when `real` is complete after trying to make it so; false inside the resolution itself.
inline bool RealReady() {
  if (__builtin_expect(real_ready.load(std::memory_order_acquire), 1)) return true;
  ResolveRealSymbols();
  return real_ready.load(std::memory_order_acquire);
}

// The next definition of one function, or nullptr. For hooks that may run inside the resolution of
// all, because allocators and loaders call them while they initialise (mmap, sbrk, ...).
void* FindNext(const char* name);
template <typename Function>
inline Function EarlySymbol(Function& function, const char* name) {
  if (function == nullptr) function = reinterpret_cast<Function>(FindNext(name));
  return function;
}

// Whether the program's operator new ends in an allocator of its own instead of malloc (jemalloc
// and tcmalloc define both in one object): then the operator-new hooks count (hooks_new.cc).
bool NewBypassesMalloc();

// Whether another library's mmap stands between ours and libc's.
bool MappingIsWrapped();

// Whether a sanitizer's run-time library is loaded or part of the program. It replaces memcpy and
// the like by functions that need its own per-thread state, which the drain thread has not (seen: 1
// of 12 runs of a ThreadSanitizer program died).
bool SanitizerLoaded();

// Path of the object whose malloc the program calls instead of ours (an executable's own, or
// another preloaded allocator ahead of us); nullptr when ours is called. Its memory belongs to the
// loader.
const char* MallocAheadOfUs();

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_REAL_SYMBOLS_H_
