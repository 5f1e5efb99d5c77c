#include "agent/os/machine.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "tests/support/temp_tree.h"

namespace memagent::os {
namespace {

using testing::TempTree;

constexpr char kAmd[] =
    "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n"
    "model name\t: AMD EPYC 7R13: rev\nstepping\t: 1\nmicrocode\t: 0xa001143\n"
    "flags\t\t: fpu constant_tsc nonstop_tsc hypervisor\ncache_alignment\t: 64\n\n"
    "processor\t: 1\nvendor_id\t: Other\n";

TEST(ParseCpuInfo, FirstProcessorDecides) {
  const CpuInfo info = ParseCpuInfo(kAmd);
  EXPECT_EQ(info.vendor, "AuthenticAMD");
  EXPECT_EQ(info.model_name, "AMD EPYC 7R13: rev");
  EXPECT_EQ(info.family, 25u);
  EXPECT_EQ(info.model, 1u);
  EXPECT_EQ(info.microcode, "0xa001143");
  EXPECT_TRUE(info.in_hypervisor && info.constant_tsc && info.nonstop_tsc);
}

TEST(ParseCpuInfo, ArmFieldsAreHexadecimal) {
  const CpuInfo info = ParseCpuInfo("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
  EXPECT_EQ(info.vendor, "0x41");
  EXPECT_EQ(info.model, 0xd0cu);
}

TEST(ParseCpuInfo, FlagsAreWholeWords) {
  EXPECT_FALSE(ParseCpuInfo("flags : nonstop_tsc_s3 xconstant_tsc\n").nonstop_tsc);
}

TEST(ChosenWord, BracketsMarkIt) {
  EXPECT_EQ(ChosenWord("always [madvise] never"), "madvise");
  EXPECT_EQ(ChosenWord("always"), "");
  EXPECT_EQ(ChosenWord("] ["), "");
}

TEST(ReadKernelSettings, MissingFilesKeepDefaults) {
  TempTree tree;
  const KernelSettings settings = ReadKernelSettings(tree.root(), tree.root());
  EXPECT_FALSE(settings.perf_events || settings.version.known());
  EXPECT_EQ(settings.perf_event_paranoid, 2);
  EXPECT_EQ(settings.numa_balancing, -1);
  EXPECT_EQ(settings.transparent_hugepage, "");
}

TEST(ReadKernelSettings, FilesAreRead) {
  TempTree tree;
  tree.Write("sys/kernel/perf_event_paranoid", "-1\n");
  tree.Write("sys/kernel/perf_event_max_sample_rate", "100000\n");
  tree.Write("sys/kernel/perf_event_mlock_kb", "516\n");
  tree.Write("sys/kernel/numa_balancing", "1\n");
  tree.Write("sys/kernel/osrelease", "6.8.0-49-generic\n");
  tree.Write("kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
  const KernelSettings settings = ReadKernelSettings(tree.root(), tree.root());
  EXPECT_TRUE(settings.perf_events);
  EXPECT_EQ(settings.perf_event_paranoid, -1);
  EXPECT_EQ(settings.max_sample_rate, 100000u);
  EXPECT_EQ(settings.mlock_kib, 516u);
  EXPECT_EQ(settings.numa_balancing, 1);
  EXPECT_EQ(settings.transparent_hugepage, "always");
  EXPECT_EQ(settings.version, (KernelVersion{6, 8}));
}

TEST(ParseKernelVersion, SuffixesOfDistributionsAreLeftOut) {
  EXPECT_EQ(ParseKernelVersion("6.12.117+deb13-amd64"), (KernelVersion{6, 12}));
  EXPECT_EQ(ParseKernelVersion("5.14.0-427.el9.x86_64"), (KernelVersion{5, 14}));
  EXPECT_EQ(ParseKernelVersion("6.1-rc3"), (KernelVersion{6, 1}));
  EXPECT_EQ(ParseKernelVersion("7.2"), (KernelVersion{7, 2}));
}

TEST(ParseKernelVersion, AnythingElseIsNotKnown) {
  for (const char* text :
       {"", "6", "6.", ".1", "v6.1", "6-1", "99999999999999999999.1", "4294967296.1"}) {
    EXPECT_EQ(ParseKernelVersion(text), std::nullopt) << text;
  }
}

TEST(KernelVersion, MinorNumbersAreNumbers) {
  EXPECT_LT((KernelVersion{6, 2}), (KernelVersion{6, 12}));
  EXPECT_LT((KernelVersion{6, 12}), (KernelVersion{7, 0}));
  EXPECT_FALSE(KernelVersion().known());
}

TEST(ReadMachine, XenNamesItself) {
  TempTree tree;
  tree.Write("hypervisor/type", "xen\n");
  EXPECT_EQ(ReadMachine(ReadCpuInfo(tree.root()), tree.root()).hypervisor, "xen");
}

TEST(ReadMachine, FirmwareNamesTheHypervisor) {
  TempTree tree;
  tree.Write("cpuinfo", kAmd);
  EXPECT_EQ(ReadMachine(ReadCpuInfo(tree.root()), tree.root()).hypervisor, "unknown");
  tree.Write("class/dmi/id/sys_vendor", "QEMU\n");
  tree.Write("class/dmi/id/product_name", "Standard PC\n");
  EXPECT_EQ(ReadMachine(ReadCpuInfo(tree.root()), tree.root()).hypervisor, "QEMU Standard PC");
}

TEST(ReadMachine, ThisMachineAgreesWithLibc) {
  const Machine machine = ReadMachine(ReadCpuInfo());
  utsname names;
  ASSERT_EQ(uname(&names), 0);
  EXPECT_EQ(machine.kernel_release, names.release);
  EXPECT_EQ(machine.host_name, names.nodename);
  EXPECT_EQ(machine.architecture, names.machine);
  EXPECT_EQ(machine.page_bytes, static_cast<size_t>(sysconf(_SC_PAGESIZE)));
}

TEST(ReadPrivileges, AgreeWithProcStatus) {
  std::ifstream status("/proc/thread-self/status");
  std::string word;
  while (status >> word && word != "CapEff:") continue;
  uint64_t effective = 0;
  status >> std::hex >> effective;
  const Privileges privileges = ReadPrivileges();
  EXPECT_EQ(privileges.sys_admin, (effective >> CAP_SYS_ADMIN & 1) != 0);
  EXPECT_EQ(privileges.perfmon, (effective >> CAP_PERFMON & 1) != 0);
  EXPECT_EQ(privileges.ipc_lock, (effective >> CAP_IPC_LOCK & 1) != 0);
}

}  // namespace
}  // namespace memagent::os
