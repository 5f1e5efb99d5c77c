// System calls without libc: no errno, no cancellation point, no TLS, so that they are safe in a
// hook, in a vfork child and in the drain thread (which has no glibc thread descriptor).
//
// Every function returns what the kernel returns: a negative errno on failure.
#ifndef MEMAGENT_AGENT_BASE_SYSCALL_H_
#define MEMAGENT_AGENT_BASE_SYSCALL_H_

#include <sys/syscall.h>

#include <cstdint>
#include <type_traits>

namespace memagent::base {

template <typename T>
inline long ToWord(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<long>(value);
  } else {
    return static_cast<long>(value);
  }
}
inline long ToWord(decltype(nullptr)) { return 0; }

#if defined(__x86_64__)
inline long RawSyscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                       long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
inline long RawSyscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                       long f = 0) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc 0"
               : "+r"(x0)
               : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
               : "memory");
  return x0;
}
#else
#error "memagent knows the system call convention of x86-64 and AArch64 only"
#endif

// Syscall(SYS_close, fd): any mix of integers and pointers.
template <typename... Args>
inline long Syscall(long number, Args... args) {
  return RawSyscall(number, ToWord(args)...);
}

}  // namespace memagent::base

#endif  // MEMAGENT_AGENT_BASE_SYSCALL_H_
