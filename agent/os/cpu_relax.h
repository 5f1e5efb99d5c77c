// What a loop that waits for another CPU does between two looks.
#ifndef MEMAGENT_AGENT_OS_CPU_RELAX_H_
#define MEMAGENT_AGENT_OS_CPU_RELAX_H_

namespace memagent::os {

inline void CpuRelax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("yield");
#endif
}

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_CPU_RELAX_H_
