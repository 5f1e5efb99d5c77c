// Proof that a word of stack may be read, without which no load of a walk happens.
//
// Proven for free: the page of the start frame (its return address was just read by `ret`).
// The thread's own stack, up to its thread control block or the process's initial stack pointer,
// is proven once by probing its pages and stays readable as long as the thread runs. Other
// pages (coroutine stacks, signal stacks, a stray rbp) are probed in every walk that touches them.
// The probe is rt_sigprocmask with an invalid `how`: the kernel copies
// the set in first, so it answers EFAULT or EINVAL and changes nothing; no descriptor, no
// signal, allowed by every filter that allows glibc to start a thread.
#ifndef MEMAGENT_AGENT_CAPTURE_STACK_MEMORY_H_
#define MEMAGENT_AGENT_CAPTURE_STACK_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace memagent::capture {

inline constexpr uintptr_t kPageSize = 4096;
constexpr uintptr_t PageOf(uintptr_t address) { return address & ~(kPageSize - 1); }

// What a thread has proven so far. Zero-initialised; owned by one thread.
struct ProvenPages {
  uintptr_t thread_pointer;  // whose proof this is
  uintptr_t own_low;         // [own_low, own_high): the thread's own stack, as far as proven
  uintptr_t own_high;
  static constexpr size_t kForeign = 64;
  uintptr_t foreign[kForeign];  // direct-mapped: pages that are not part of the thread's own stack
};

// The register that identifies a thread: no TLS variable of ours, no call.
inline uintptr_t ThreadPointer() {
  uintptr_t value;
#if defined(__x86_64__)
  asm("mov %%fs:0, %0" : "=r"(value));  // the x86-64 TLS ABI stores the pointer at itself
#else
  asm("mrs %0, tpidr_el0" : "=r"(value));
#endif
  return value;
}

// Asks the kernel. Costs a system call (60 to 100 ns).
bool IsPageReadable(uintptr_t address);

// A word of the stack, as it is. Under ASan the words between variables are poisoned on purpose;
// reading them is the point here.
__attribute__((no_sanitize("address", "thread", "undefined"))) inline uintptr_t LoadWord(
    uintptr_t address) {
  return *reinterpret_cast<const volatile uintptr_t*>(address);
}

// The loads of one walk.
class StackReader {
 public:
  // `pages` may be null: then every page but the first costs a probe.
  StackReader(uintptr_t sp, ProvenPages* pages);

  // False: not proven readable, or not aligned.
  bool Load(uintptr_t address, uintptr_t& value) {
    if ((address & 7) != 0) return false;
    if (address - low_ >= high_ - low_ && !Prove(address)) return false;
    value = LoadWord(address);
    return true;
  }

 private:
  bool Prove(uintptr_t address);

  uintptr_t low_;
  uintptr_t high_;
};

// Whether a frame that ends at `sp` is the first of the process: nothing but arguments and
// environment lies above the stack pointer the kernel started with. The loader's start code, under
// which static constructors run, has no unwind information and is recognised by this.
bool IsFirstFrame(uintptr_t sp);

// Words that stay readable whenever a frame of this thread starts at `sp` again: the page of the
// return address below sp, and the thread's own stack. End of that range above sp.
uintptr_t AlwaysReadableEnd(uintptr_t sp, const ProvenPages& pages);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_STACK_MEMORY_H_
