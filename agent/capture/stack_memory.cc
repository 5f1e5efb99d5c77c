#include "agent/capture/stack_memory.h"

#include <cerrno>

#include "agent/base/syscall.h"

// Where the kernel put argc: the top of the initial thread's frames. Exported by every glibc.
extern "C" void* __libc_stack_end __attribute__((weak));

namespace memagent::capture {
namespace {

// Farther than this from the top of the stack, pages are proven one by one as they are touched:
// 256 probes are about 20 us, once.
constexpr uintptr_t kMaxProofBytes = uintptr_t{1} << 20;

size_t SlotOf(uintptr_t page) { return (page / kPageSize) % ProvenPages::kForeign; }

bool ArePagesReadable(uintptr_t first_page, uintptr_t end) {
  for (uintptr_t page = first_page; page < end; page += kPageSize) {
    if (!IsPageReadable(page)) return false;
  }
  return true;
}

// An address above `sp` that is known to lie on this thread's own stack; 0: none near enough.
// The initial thread runs below the kernel's argument block, others below their thread control
// block. Both stacks have an unreadable gap below them (the kernel's stack guard gap, glibc's
// guard page), so a run of readable pages from sp up to there is that one stack.
uintptr_t OwnTop(uintptr_t sp, uintptr_t thread_pointer) {
  const bool initial = base::Syscall(SYS_gettid) == base::Syscall(SYS_getpid);
  uintptr_t top = thread_pointer;
  if (initial) {
    if (&__libc_stack_end == nullptr) return 0;
    top = reinterpret_cast<uintptr_t>(__libc_stack_end);
  }
  return top > sp && top - sp <= kMaxProofBytes ? top : 0;
}

// Extends or makes the proof of the thread's own stack so that it reaches down to `sp`.
void ProveOwnStack(uintptr_t sp, ProvenPages& pages) {
  const uintptr_t page = PageOf(sp - 1);
  if (pages.foreign[SlotOf(page)] == page) return;
  const bool extend = sp < pages.own_low && pages.own_low - sp <= kMaxProofBytes;
  const uintptr_t top = extend ? pages.own_low : OwnTop(sp, pages.thread_pointer);
  if (top == 0 || !ArePagesReadable(page, top)) {
    pages.foreign[SlotOf(page)] = page;
    return;
  }
  pages.own_low = page;
  if (!extend) pages.own_high = top;
}

}  // namespace

bool IsPageReadable(uintptr_t address) {
  constexpr int kInvalidHow = -1;
  const auto* set = reinterpret_cast<const void*>(PageOf(address));
  return base::Syscall(SYS_rt_sigprocmask, kInvalidHow, set, nullptr, 8) == -EINVAL;
}

StackReader::StackReader(uintptr_t sp, ProvenPages* pages)
    : low_(PageOf(sp - 1)), high_(PageOf(sp - 1) + kPageSize) {
  if (pages == nullptr) return;
  if (sp - pages->own_low >= pages->own_high - pages->own_low) ProveOwnStack(sp, *pages);
  if (sp - pages->own_low >= pages->own_high - pages->own_low) return;
  low_ = pages->own_low;
  high_ = pages->own_high & ~uintptr_t{7};
}

bool StackReader::Prove(uintptr_t address) {
  const uintptr_t page = PageOf(address);
  if (!IsPageReadable(page)) return false;
  if (page != PageOf(high_)) low_ = page;  // not next to the window: start another
  high_ = page + kPageSize;
  return true;
}

bool IsFirstFrame(uintptr_t sp) {
  if (&__libc_stack_end == nullptr) return false;
  // The start code aligns the stack pointer down to 16.
  return sp >= (reinterpret_cast<uintptr_t>(__libc_stack_end) & ~uintptr_t{15});
}

uintptr_t AlwaysReadableEnd(uintptr_t sp, const ProvenPages& pages) {
  if (sp >= pages.own_low && sp < pages.own_high) return pages.own_high & ~uintptr_t{7};
  return PageOf(sp - 1) + kPageSize;
}

}  // namespace memagent::capture
