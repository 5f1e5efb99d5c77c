#include "agent/runtime/spe_cpus.h"

#include <gtest/gtest.h>

#include "tests/support/temp_tree.h"

namespace memagent::runtime {
namespace {

os::Pmu Spe(const char* name, const char* cpus, const char* filter) {
  os::Pmu pmu;
  pmu.name = name;
  pmu.cpus = cpus;
  pmu.caps.push_back({"event_filter", filter});
  return pmu;
}

constexpr char kMidr[] = "devices/system/cpu/cpu%/regs/identification/midr_el1";

std::string MidrFile(int cpu) {
  std::string path = kMidr;
  return path.replace(path.find('%'), 1, std::to_string(cpu));
}

TEST(SpeCpus, EachCpuHasTheCodeOfItsOwnCore) {
  ::memagent::testing::TempTree tree;
  tree.Write(MidrFile(0), "0x00000000410fd0c0\n");  // Neoverse N1
  tree.Write(MidrFile(1), "0x00000000c00fac40\n");  // AmpereOne
  os::PmuFacts pmus;
  pmus.pmus.push_back(Spe("arm_spe_0", "0", "0x800000"));
  pmus.pmus.push_back(Spe("arm_spe_1", "1", "0x2"));
  const SpeCpus cpus = ReadSpeCpus(pmus, tree.root());
  EXPECT_EQ(cpus.Of(0).encoding, decode::SpeEncoding::kCommon);
  EXPECT_TRUE(cpus.Of(0).tells_snoops);
  EXPECT_EQ(cpus.Of(1).encoding, decode::SpeEncoding::kAmpereOne);
  EXPECT_FALSE(cpus.Of(1).tells_snoops);
  EXPECT_EQ(cpus.Of(SpeCpus::kUnknownCpu).encoding, decode::SpeEncoding::kUnknown);
}

TEST(SpeCpus, UnknownCpuOfAMachineWithOneKindOfCoreIsOfThatKind) {
  ::memagent::testing::TempTree tree;
  for (const int cpu : {0, 1}) tree.Write(MidrFile(cpu), "0x00000000410fd0c1\n");
  os::PmuFacts pmus;
  pmus.pmus.push_back(Spe("arm_spe_0", "0-1", "0"));
  EXPECT_EQ(ReadSpeCpus(pmus, tree.root()).Of(SpeCpus::kUnknownCpu).encoding,
            decode::SpeEncoding::kCommon);
}

TEST(SpeCpus, WithoutFilesNothingIsKnown) {
  ::memagent::testing::TempTree tree;
  os::PmuFacts pmus;
  pmus.pmus.push_back(Spe("arm_spe_0", "0-3", "0"));
  EXPECT_EQ(ReadSpeCpus(pmus, tree.root()).Of(2).encoding, decode::SpeEncoding::kUnknown);
  EXPECT_EQ(SpeCpus().Of(0).encoding, decode::SpeEncoding::kUnknown);
}

}  // namespace
}  // namespace memagent::runtime
