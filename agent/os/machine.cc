#include "agent/os/machine.h"

#include <elf.h>
#include <linux/capability.h>
#include <sys/utsname.h>

#include <optional>

#include "agent/base/bit_mask.h"
#include "agent/base/syscall.h"
#include "agent/os/file.h"

namespace memagent::os {
namespace {

using base::Syscall;

// The first processor's lines; its flags alone have 1.5 KiB on current CPUs.
constexpr size_t kCpuInfoBytes = size_t{8} << 10;
constexpr size_t kSmallFileBytes = 4096;

base::String ReadLine(std::string_view root, std::string_view path) {
  const auto text = ReadWholeFile(JoinPath(root, path).c_str(), kSmallFileBytes);
  return text ? base::String(Trim(*text)) : base::String();
}

std::optional<int64_t> ReadNumber(std::string_view root, std::string_view path) {
  return ReadNumberFile(JoinPath(root, path).c_str());
}

bool HasWord(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    if (TakeUntil(words, ' ') == word) return true;
  }
  return false;
}

// Decimal, or hexadecimal after "0x" (AArch64).
uint32_t NumberOrZero(std::string_view text) {
  const bool hex = text.starts_with("0x");
  const auto number = hex ? ParseUnsigned(text.substr(2), 16) : ParseUnsigned(text);
  return static_cast<uint32_t>(number.value_or(0));
}

void SetField(std::string_view name, std::string_view value, CpuInfo& info) {
  if (name == "vendor_id" || name == "CPU implementer") info.vendor = value;
  if (name == "model name") info.model_name = value;
  if (name == "cpu family" || name == "CPU architecture") info.family = NumberOrZero(value);
  if (name == "model" || name == "CPU part") info.model = NumberOrZero(value);
  if (name == "stepping" || name == "CPU revision") info.stepping = NumberOrZero(value);
  if (name == "microcode") info.microcode = value;
  if (name == "cache_alignment") info.cache_line_bytes = NumberOrZero(value);
  if (name == "flags") {
    info.in_hypervisor = HasWord(value, "hypervisor");
    info.constant_tsc = HasWord(value, "constant_tsc");
    info.nonstop_tsc = HasWord(value, "nonstop_tsc");
  }
}

// Names the hypervisor from what the kernel and the firmware say. Not from the CPUID instruction:
// a host under a record-and-replay debugger may have it trapped.
base::String ReadHypervisor(std::string_view sys_root, const CpuInfo& cpu) {
  base::String name = ReadLine(sys_root, "/hypervisor/type");
  if (!name.empty() || !cpu.in_hypervisor) return name;
  name = ReadLine(sys_root, "/class/dmi/id/sys_vendor");
  const base::String product = ReadLine(sys_root, "/class/dmi/id/product_name");
  if (!name.empty() && !product.empty()) name += ' ';
  name += product;
  if (name.empty()) name = "unknown";
  return name;
}

}  // namespace

size_t CpuMaskBytes() {
  base::BitMask mask;
  const long bytes = Syscall(SYS_sched_getaffinity, 0, sizeof(mask.words), mask.words.data());
  return bytes > 0 ? static_cast<size_t>(bytes) : sizeof(mask.words);
}

size_t PageBytes() {
#if defined(__x86_64__)
  return 4096;
#else
  static constinit size_t known = 0;
  if (known != 0) return known;
  Elf64_auxv_t entries[64] = {};  // the kernel writes about 25; any thread may call: no heap here
  const UniqueFd fd = OpenRead("/proc/self/auxv");
  if (fd.valid()) ReadUpTo(fd.get(), reinterpret_cast<char*>(entries), sizeof(entries));
  for (const Elf64_auxv_t& entry : entries) {
    if (entry.a_type == AT_PAGESZ) known = entry.a_un.a_val;
  }
  return known != 0 ? known : 4096;
#endif
}

CpuInfo ParseCpuInfo(std::string_view text) {
  CpuInfo info;
  while (!text.empty()) {
    std::string_view line = TakeUntil(text, '\n');
    if (Trim(line).empty()) break;  // the next processor
    const std::string_view name = Trim(TakeUntil(line, ':'));
    SetField(name, Trim(line), info);
  }
  return info;
}

CpuInfo ReadCpuInfo(std::string_view proc_root) {
  const auto text = ReadFileHead(JoinPath(proc_root, "/cpuinfo").c_str(), kCpuInfoBytes);
  return text ? ParseCpuInfo(*text) : CpuInfo();
}

Machine ReadMachine(const CpuInfo& cpu, std::string_view sys_root) {
  Machine machine;
  utsname names;
  if (Syscall(SYS_uname, &names) == 0) {
    machine.architecture = names.machine;
    machine.host_name = names.nodename;
    machine.kernel_release = names.release;
  }
  machine.cpu = cpu;
  machine.hypervisor = ReadHypervisor(sys_root, cpu);
  machine.page_bytes = PageBytes();
  machine.clock_source =
      ReadLine(sys_root, "/devices/system/clocksource/clocksource0/current_clocksource");
  return machine;
}

std::string_view ChosenWord(std::string_view text) {
  const size_t open = text.find('[');
  const size_t close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return text.substr(open + 1, close - open - 1);
}

std::optional<KernelVersion> ParseKernelVersion(std::string_view release) {
  const auto take = [&] {
    size_t digits = 0;
    while (digits < release.size() && release[digits] >= '0' && release[digits] <= '9') ++digits;
    const auto number = ParseUnsigned(release.substr(0, digits));
    release.remove_prefix(digits);
    return number && *number <= UINT32_MAX ? number : std::nullopt;
  };
  const auto major = take();
  if (!major || !release.starts_with('.')) return std::nullopt;
  release.remove_prefix(1);
  const auto minor = take();
  if (!minor) return std::nullopt;
  return KernelVersion{static_cast<uint32_t>(*major), static_cast<uint32_t>(*minor)};
}

KernelSettings ReadKernelSettings(std::string_view proc_root, std::string_view sys_root) {
  KernelSettings settings;
  settings.version =
      ParseKernelVersion(ReadLine(proc_root, "/sys/kernel/osrelease")).value_or(KernelVersion());
  const auto paranoid = ReadNumber(proc_root, "/sys/kernel/perf_event_paranoid");
  settings.perf_events = paranoid.has_value();
  settings.perf_event_paranoid = static_cast<int>(paranoid.value_or(2));
  settings.max_sample_rate = static_cast<uint32_t>(
      ReadNumber(proc_root, "/sys/kernel/perf_event_max_sample_rate").value_or(0));
  settings.mlock_kib =
      static_cast<uint32_t>(ReadNumber(proc_root, "/sys/kernel/perf_event_mlock_kb").value_or(0));
  settings.numa_balancing =
      static_cast<int>(ReadNumber(proc_root, "/sys/kernel/numa_balancing").value_or(-1));
  settings.transparent_hugepage =
      ChosenWord(ReadLine(sys_root, "/kernel/mm/transparent_hugepage/enabled"));
  return settings;
}

Privileges ReadPrivileges() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (Syscall(SYS_capget, &header, &data[0]) != 0) return {};
  const auto has = [&](unsigned capability) {
    return (data[capability / 32].effective >> (capability % 32) & 1) != 0;
  };
  return {has(CAP_SYS_ADMIN), has(CAP_PERFMON), has(CAP_IPC_LOCK)};
}

}  // namespace memagent::os
