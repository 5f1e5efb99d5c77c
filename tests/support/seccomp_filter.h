// A seccomp filter that judges by the system call's number alone, and its installation.
#ifndef MEMAGENT_TESTS_SUPPORT_SECCOMP_FILTER_H_
#define MEMAGENT_TESTS_SUPPORT_SECCOMP_FILTER_H_

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <vector>

namespace seccomp_filter {

// `verdict` for the listed calls, `otherwise` for all others; both are SECCOMP_RET_*.
inline std::vector<sock_filter> ForCalls(std::span<const unsigned> calls, unsigned verdict,
                                         unsigned otherwise) {
  std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned number : calls) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, verdict));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, otherwise));
  return filter;
}

// 0, or -1 with errno. By prctl for the calling thread, or by the system call with its flags.
inline int Install(std::vector<sock_filter> filter, bool by_prctl = true, unsigned flags = 0) {
  sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (by_prctl) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
  return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

}  // namespace seccomp_filter

#endif  // MEMAGENT_TESTS_SUPPORT_SECCOMP_FILTER_H_
