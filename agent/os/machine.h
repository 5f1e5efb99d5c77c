// What machine and kernel a session runs on: plain data for the profile and for event selection.
//
// Read once at session start in the drain thread. `proc_root` and `sys_root` are where the file
// systems are mounted, or copies of them in a test. What can't be read stays at its default.
#ifndef MEMAGENT_AGENT_OS_MACHINE_H_
#define MEMAGENT_AGENT_OS_MACHINE_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "agent/base/containers.h"

namespace memagent::os {

// Size of a small page. Found in the kernel's auxiliary vector; calling thread: any.
size_t PageBytes();

// How many bytes of a mask of CPUs the kernel reads and fills, whatever is more; at most 128. A
// system call; calling thread: any.
size_t CpuMaskBytes();

struct CpuInfo {
  base::String vendor;  // "AuthenticAMD", "GenuineIntel"; on AArch64 the implementer, "0x41"
  base::String model_name;
  uint32_t family = 0;
  uint32_t model = 0;  // on AArch64 the part number
  uint32_t stepping = 0;
  base::String microcode;
  uint32_t cache_line_bytes = 64;
  bool in_hypervisor = false;
  bool constant_tsc = false;  // the TSC runs at one rate whatever the core's frequency
  bool nonstop_tsc = false;   // and goes on in deep sleep
};

// Pure: the first processor of /proc/cpuinfo.
CpuInfo ParseCpuInfo(std::string_view text);
// The kernel writes about 1.5 KiB for each processor, and asks each for its frequency: only the
// first is read.
CpuInfo ReadCpuInfo(std::string_view proc_root = "/proc");

struct Machine {
  base::String architecture;  // "x86_64"
  base::String host_name;
  base::String kernel_release;
  CpuInfo cpu;
  base::String hypervisor;  // "" on bare metal, "unknown" when only the CPU flag tells
  size_t page_bytes = 0;
  base::String clock_source;  // the kernel's own; "tsc" and "kvm-clock" mean that it trusts the TSC
};
Machine ReadMachine(const CpuInfo& cpu, std::string_view sys_root = "/sys");

// Of the release that uname tells, "6.12.117+deb13-amd64": 6 and 12. A hint: distributions carry
// newer code back into older kernels, so what can be tried is tried.
struct KernelVersion {
  uint32_t major = 0;  // 0: not known
  uint32_t minor = 0;
  bool known() const { return major != 0; }
  auto operator<=>(const KernelVersion&) const = default;
};

// Pure. nullopt when `release` does not begin with two numbers.
std::optional<KernelVersion> ParseKernelVersion(std::string_view release);

struct KernelSettings {
  KernelVersion version;
  int perf_event_paranoid = 2;  // the kernel's default
  bool perf_events = false;     // the file above exists: the kernel has perf events
  uint32_t max_sample_rate = 0;
  uint32_t mlock_kib = 0;
  base::String transparent_hugepage;  // "always", "madvise", "never"; "" not known
  int numa_balancing = -1;            // -1 unknown
};
KernelSettings ReadKernelSettings(std::string_view proc_root = "/proc",
                                  std::string_view sys_root = "/sys");

// Pure: the word in brackets of "always [madvise] never".
std::string_view ChosenWord(std::string_view text);

// Effective capabilities of this thread. In a user namespace they may be set and yet not count for
// the kernel's perf checks, which ask the initial namespace.
struct Privileges {
  bool sys_admin = false;
  bool perfmon = false;
  bool ipc_lock = false;
};
Privileges ReadPrivileges();

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_MACHINE_H_
