// Machines that this project can't get hold of, as the files of /proc and /sys that describe them
// to SelectEvents (facts: perf_abi 2.1, 3.1, 4.1, 8.2 to 8.4). Written from those tables, not
// copied from machines: what no engine asks for is left out.
#ifndef MEMAGENT_TESTS_SUPPORT_MACHINES_H_
#define MEMAGENT_TESTS_SUPPORT_MACHINES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/capture/engine_facts.h"
#include "agent/os/machine.h"
#include "tests/support/temp_tree.h"

namespace memagent::testing {

// Path below the root ("proc/cpuinfo", "sys/...") to text.
using Files = std::map<std::string, std::string>;

struct Machine {
  std::string name;   // of its golden file
  std::string title;  // for people
  Files files;
  os::Privileges privileges;
};

// What the agent would learn on it.
inline capture::EngineFacts FactsOf(const Machine& machine) {
  const TempTree tree;
  for (const auto& [path, text] : machine.files) tree.Write(path, text + "\n");
  capture::EngineFacts facts =
      capture::ReadEngineFacts(tree.root() + "/proc", tree.root() + "/sys");
  facts.privileges = machine.privileges;
  return facts;
}

inline Files operator+(Files left, const Files& right) {
  for (const auto& [path, text] : right) left[path] = text;
  return left;
}

// `entries` are paths below the PMU's folder.
inline Files PmuFiles(const std::string& name, const std::string& type, const Files& entries) {
  const std::string folder = "sys/bus/event_source/devices/" + name + "/";
  Files files = {{folder + "type", type}};
  for (const auto& [path, text] : entries) files[folder + path] = text;
  return files;
}

inline Files Cpuinfo(const std::string& text) { return {{"proc/cpuinfo", text}}; }

// Every kernel with perf events has these.
inline Files Kernel(const std::string& release, int paranoid = 2) {
  const std::string settings = "proc/sys/kernel/";
  return Files{{settings + "osrelease", release},
               {settings + "perf_event_paranoid", std::to_string(paranoid)},
               {settings + "perf_event_max_sample_rate", "100000"},
               {settings + "perf_event_mlock_kb", "516"}} +
         PmuFiles("software", "1", {}) + PmuFiles("breakpoint", "5", {});
}

// AMD. `family` and `model` as in /proc/cpuinfo.
inline Files AmdCpu(const std::string& name, int family, int model, const std::string& flags = "") {
  return Cpuinfo("vendor_id\t: AuthenticAMD\ncpu family\t: " + std::to_string(family) +
                 "\nmodel\t\t: " + std::to_string(model) + "\nmodel name\t: " + name +
                 "\nflags\t\t: fpu " + flags) +
         PmuFiles("cpu", "4",
                  {{"format/event", "config:0-7,32-35"}, {"format/umask", "config:8-15"}});
}

inline Files Ibs(bool zen4, const Files& newer = {}) {
  Files entries = {{"format/cnt_ctl", "config:19"}};
  if (zen4) {
    entries["format/l3missonly"] = "config:16";
    entries["caps/zen4_ibs_extensions"] = "1";
  }
  return PmuFiles("ibs_op", "11", entries + newer);
}

// Linux 6.14 and later filter by privilege in software.
inline Files WithFilter() { return {{"format/swfilt", "config2:0"}}; }
inline Files WithLatency() { return {{"format/ldlat", "config1:0-11"}, {"caps/ldlat", "1"}}; }

// Intel.
inline Files IntelCpu(const std::string& name, int model, const std::string& flags = "") {
  return Cpuinfo("vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: " + std::to_string(model) +
                 "\nmodel name\t: " + name + "\nflags\t\t: fpu " + flags);
}

inline Files IntelPmu(const std::string& name, const std::string& type, const Files& events,
                      const std::string& cpus = "") {
  Files entries = {{"format/event", "config:0-7"},
                   {"format/umask", "config:8-15"},
                   {"format/ldlat", "config1:0-15"},
                   {"caps/max_precise", "3"}};
  if (!cpus.empty()) entries["cpus"] = cpus;
  return PmuFiles(name, type, entries + events);
}

inline Files LoadsAndStores(const std::string& loads, const std::string& stores) {
  return {{"events/mem-loads", loads + ",ldlat=3"}, {"events/mem-stores", stores}};
}
// Haswell to Ice Lake.
inline Files DatalaEvents() {
  return LoadsAndStores("event=0xcd,umask=0x1", "event=0xd0,umask=0x82");
}
// Golden Cove and later.
inline Files CoreEvents() { return LoadsAndStores("event=0xcd,umask=0x1", "event=0xcd,umask=0x2"); }
inline Files AtomEvents() { return LoadsAndStores("event=0xd0,umask=0x5", "event=0xd0,umask=0x6"); }
inline Files WithAux() { return {{"events/mem-loads-aux", "event=0x03,umask=0x82"}}; }

// Arm. `implementer` and `part` as in /proc/cpuinfo.
inline Files ArmCpu(const std::string& implementer, const std::string& part) {
  return Cpuinfo("CPU implementer\t: " + implementer +
                 "\nCPU architecture: 8\nCPU part\t: " + part);
}

inline Files Spe(const std::string& cpus, const std::string& min_interval) {
  return PmuFiles("arm_spe_0", "8",
                  {{"cpumask", cpus},
                   {"format/ts_enable", "config:0"},
                   {"format/pa_enable", "config:1"},
                   {"format/jitter", "config:16"},
                   {"format/load_filter", "config:33"},
                   {"format/store_filter", "config:34"},
                   {"format/event_filter", "config1:0-63"},
                   {"format/min_latency", "config2:0-11"},
                   {"caps/arch_inst", "0"},
                   {"caps/ernd", "1"},
                   {"caps/count_size", "12"},
                   {"caps/min_interval", min_interval}});
}

inline constexpr os::Privileges kPerfmon = {.perfmon = true};
inline constexpr os::Privileges kRoot = {.sys_admin = true, .perfmon = true, .ipc_lock = true};

inline std::vector<Machine> AmdMachines() {
  const Files zen2 = AmdCpu("AMD EPYC 7702 64-Core Processor", 23, 49);
  const Files zen3 = AmdCpu("AMD EPYC 7763 64-Core Processor", 25, 1);
  const Files zen4 = AmdCpu("AMD EPYC 9654 96-Core Processor", 25, 17);
  const Files zen5 = AmdCpu("AMD EPYC 9755 128-Core Processor", 26, 2);
  const std::string old = "6.1.0-28-amd64";
  const std::string middle = "6.12.57+deb13-amd64";
  const std::string fresh = "7.2.1-amd64";
  return {
      {"zen2_6.1", "Zen 2, Linux 6.1", zen2 + Kernel(old) + Ibs(false), {}},
      {"zen2_6.12", "Zen 2, Linux 6.12", zen2 + Kernel(middle) + Ibs(false), {}},
      {"zen2_7.2", "Zen 2, Linux 7.2", zen2 + Kernel(fresh) + Ibs(false, WithFilter()), {}},
      {"zen3_6.1_root", "Zen 3, Linux 6.1, root", zen3 + Kernel(old) + Ibs(false), kRoot},
      {"zen3_6.12", "Zen 3, Linux 6.12, paranoid 1", zen3 + Kernel(middle, 1) + Ibs(false), {}},
      {"zen3_7.2", "Zen 3, Linux 7.2", zen3 + Kernel(fresh) + Ibs(false, WithFilter()), {}},
      {"zen4_6.1", "Zen 4, Linux 6.1, paranoid 0", zen4 + Kernel(old, 0) + Ibs(true), {}},
      {"zen4_6.12", "Zen 4, Linux 6.12, CAP_PERFMON", zen4 + Kernel(middle) + Ibs(true), kPerfmon},
      {"zen4_7.2", "Zen 4, Linux 7.2", zen4 + Kernel(fresh) + Ibs(true, WithFilter()), {}},
      {"zen5_6.1", "Zen 5, Linux 6.1, CAP_PERFMON", zen5 + Kernel(old) + Ibs(true), kPerfmon},
      {"zen5_6.12", "Zen 5, Linux 6.12, paranoid -1", zen5 + Kernel(middle, -1) + Ibs(true), {}},
      {"zen5_7.2",
       "Zen 5, Linux 7.2",
       zen5 + Kernel(fresh) + Ibs(true, WithFilter() + WithLatency()),
       {}},
      {"zen5_7.2_root", "Zen 5, Linux 7.2, root",
       zen5 + Kernel(fresh) + Ibs(true, WithFilter() + WithLatency()), kRoot},
  };
}

inline std::vector<Machine> IntelMachines() {
  const Files skylake = IntelCpu("Intel(R) Xeon(R) Platinum 8173M CPU", 85);
  const Files alder = IntelCpu("12th Gen Intel(R) Core(TM) i9-12900K", 151) +
                      IntelPmu("cpu_core", "4", CoreEvents() + WithAux(), "0-15") +
                      IntelPmu("cpu_atom", "10", AtomEvents(), "16-23");
  const Files arrow = IntelCpu("Intel(R) Core(TM) Ultra 9 285H", 197) +
                      IntelPmu("cpu_core", "4", CoreEvents(), "0-5") +
                      IntelPmu("cpu_atom", "10", AtomEvents(), "6-13") +
                      IntelPmu("cpu_lowpower", "11", AtomEvents(), "14-15");
  return {
      {"skylake_sp_5.10",
       "Skylake-SP, Linux 5.10",
       skylake + Kernel("5.10.0-33-amd64") + IntelPmu("cpu", "4", DatalaEvents()),
       {}},
      {"skylake_sp_6.1",
       "Skylake-SP, Linux 6.1",
       skylake + Kernel("6.1.0-28-amd64") + IntelPmu("cpu", "4", DatalaEvents()),
       {}},
      {"ice_lake_sp_6.12_root", "Ice Lake-SP, Linux 6.12, root",
       IntelCpu("Intel(R) Xeon(R) Platinum 8380 CPU", 106) + Kernel("6.12.57+deb13-amd64") +
           IntelPmu("cpu", "4", DatalaEvents()),
       kRoot},
      {"sapphire_rapids_6.12",
       "Sapphire Rapids, Linux 6.12",
       IntelCpu("Intel(R) Xeon(R) Platinum 8480+", 143) + Kernel("6.12.57+deb13-amd64") +
           IntelPmu("cpu", "4", CoreEvents() + WithAux()),
       {}},
      {"granite_rapids_7.2", "Granite Rapids, Linux 7.2, CAP_PERFMON",
       IntelCpu("Intel(R) Xeon(R) 6980P", 173) + Kernel("7.2.1-amd64") +
           IntelPmu("cpu", "4", CoreEvents()),
       kPerfmon},
      {"alder_lake_6.12", "Alder Lake, Linux 6.12", alder + Kernel("6.12.57+deb13-amd64"), {}},
      {"arrow_lake_h_7.2", "Arrow Lake-H, Linux 7.2", arrow + Kernel("7.2.1-amd64"), {}},
  };
}

inline std::vector<Machine> ArmMachines() {
  const Files altra = ArmCpu("0x41", "0xd0c") + Spe("0-79", "1024");
  const Files grace = ArmCpu("0x41", "0xd4f") + Spe("0-71", "1024");
  const Files ampere_one = ArmCpu("0xc0", "0xac4") + Spe("0-191", "512");
  return {
      {"neoverse_n1_6.1", "Neoverse N1 (Altra), Linux 6.1", altra + Kernel("6.1.0-28-arm64"), {}},
      {"neoverse_v2_6.12_root", "Neoverse V2 (Grace), Linux 6.12, root",
       grace + Kernel("6.12.57+deb13-arm64"), kRoot},
      {"ampere_one_7.2",
       "AmpereOne, Linux 7.2, paranoid 1",
       ampere_one + Kernel("7.2.1-arm64", 1),
       {}},
      {"arm_without_driver",
       "Neoverse N1, arm_spe_pmu not loaded",
       ArmCpu("0x41", "0xd0c") + Kernel("6.12.57+deb13-arm64"),
       {}},
  };
}

inline std::vector<Machine> GuestsAndContainers() {
  const Files zen4 = AmdCpu("AMD EPYC 9654 96-Core Processor", 25, 17);
  const Files rapids = IntelCpu("Intel(R) Xeon(R) Platinum 8480+", 143) +
                       IntelPmu("cpu", "4", CoreEvents() + WithAux());
  Files guest_without_pebs = IntelPmu("cpu", "4", DatalaEvents());
  guest_without_pebs["sys/bus/event_source/devices/cpu/caps/max_precise"] = "0";
  return {
      {"vm_amd",
       "a guest on AMD",
       AmdCpu("AMD EPYC", 26, 2, "hypervisor") + Kernel("6.12.57+deb13-amd64"),
       {}},
      {"vm_intel",
       "a guest on Intel, no PMU",
       IntelCpu("Intel(R) Xeon(R) Processor", 106, "hypervisor") + Kernel("6.12.57+deb13-amd64"),
       {}},
      {"vm_intel_without_pebs",
       "a guest on Intel, PMU without PEBS",
       IntelCpu("Intel(R) Xeon(R) Processor", 85, "hypervisor") + guest_without_pebs +
           Kernel("6.12.57+deb13-amd64"),
       {}},
      {"container_sys_masked",
       "a container whose /sys is masked, on Zen 4",
       Cpuinfo("vendor_id\t: AuthenticAMD"),
       {}},
      {"container_plain",
       "a container without capabilities, Zen 4, Linux 6.12",
       zen4 + Kernel("6.12.57+deb13-amd64") + Ibs(true),
       {}},
      {"container_perfmon", "a container with CAP_PERFMON, Zen 4, Linux 6.12",
       zen4 + Kernel("6.12.57+deb13-amd64") + Ibs(true), kPerfmon},
      {"paranoid_3_debian",
       "Debian's paranoid 3, Zen 4, Linux 7.2",
       zen4 + Kernel("7.2.1-amd64", 3) + Ibs(true, WithFilter()),
       {}},
      {"paranoid_4_ubuntu",
       "Ubuntu's paranoid 4, Sapphire Rapids, Linux 6.8",
       rapids + Kernel("6.8.0-49-generic", 4),
       {}},
      {"paranoid_4_root", "Ubuntu's paranoid 4, Sapphire Rapids, Linux 6.8, root",
       rapids + Kernel("6.8.0-49-generic", 4), kRoot},
  };
}

inline std::vector<Machine> AllMachines() {
  std::vector<Machine> all;
  for (const auto& group : {AmdMachines(), IntelMachines(), ArmMachines(), GuestsAndContainers()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

}  // namespace memagent::testing

#endif  // MEMAGENT_TESTS_SUPPORT_MACHINES_H_
