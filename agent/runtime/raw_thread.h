// A thread that only the kernel knows: the drain thread.
//
// Made with clone() instead of pthread_create, so that
//  * glibc does not count it: main's pthread_exit still ends the process (pitfalls P35), setxid and
//    cancellation never touch it;
//  * it has its own descriptor table (no CLONE_FILES): the host's closefrom, dup2 and RLIMIT_NOFILE
//    never meet our descriptors, and exec'ed programs can't inherit them (P30, P71, P84);
//  * it has its own working folder and root (no CLONE_FS): chdir and chroot don't move our files
//    (P87);
//  * it never handles a signal: all are blocked before it exists (P46).
// The price: code that runs in it may not use libc functions that need a glibc thread descriptor. It
// gets a zeroed TLS block with the guard held, enough for initial-exec variables.
#ifndef MEMAGENT_AGENT_RUNTIME_RAW_THREAD_H_
#define MEMAGENT_AGENT_RUNTIME_RAW_THREAD_H_

#include <atomic>
#include <cstdint>

namespace memagent::runtime {

// Starts `function(argument)` in a new raw thread; it must not return. Returns its thread id, or a
// negative errno (EAGAIN: RLIMIT_NPROC or a cgroup's pids.max; EPERM/ENOSYS: a sandbox).
// `exited` is set to 0 by the kernel when the thread is gone.
long StartRawThread(void (*function)(void*), void* argument, std::atomic<int32_t>& exited);

// Closes every descriptor of the calling thread's own table. Raw thread only.
void CloseAllDescriptors();

// Sleeps until `word` is no longer `value` or `nanos` have passed. Calling thread: any.
void FutexWait(std::atomic<uint32_t>& word, uint32_t value, uint64_t nanos);
void FutexWakeAll(std::atomic<uint32_t>& word);

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_RAW_THREAD_H_
