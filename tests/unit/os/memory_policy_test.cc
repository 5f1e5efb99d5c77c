#include "agent/os/memory_policy.h"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace memagent::os {
namespace {

struct FakeKernel {
  long result = 0;
  int told_mode = 0;
  uint64_t nodes = 0;
  int asked = 0;
  uint64_t asked_address = 0;
  unsigned asked_flags = 0;

  static long GetMempolicy(void* context, int* mode, uint64_t* mask, uint64_t address,
                           unsigned flags) {
    auto& self = *static_cast<FakeKernel*>(context);
    ++self.asked;
    self.asked_address = address;
    self.asked_flags = flags;
    *mode = self.told_mode;
    mask[0] = self.nodes;
    return self.result;
  }
  PolicyCalls Calls() {
    return {this, GetMempolicy};
  }
};

TEST(MemoryPolicy, ModesAndNodesAreReadWithoutFlags) {
  FakeKernel kernel;
  kernel.told_mode = MPOL_BIND | MPOL_F_STATIC_NODES;
  kernel.nodes = 0b101;
  PolicyReader reader(kernel.Calls());
  const auto policy = reader.OfMapping(0x7000);
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->mode, static_cast<uint32_t>(MPOL_BIND));
  EXPECT_TRUE(policy->nodes.Has(0) && policy->nodes.Has(2) && !policy->nodes.Has(1));
  EXPECT_EQ(kernel.asked_address, 0x7000u);
  EXPECT_EQ(kernel.asked_flags, static_cast<unsigned>(MPOL_F_ADDR));
  EXPECT_EQ(reader.OfThisThread()->mode, static_cast<uint32_t>(MPOL_BIND));
  EXPECT_EQ(kernel.asked_flags, 0u);
}

TEST(MemoryPolicy, AnUnmappedAddressHasNoneAndOthersAreStillAsked) {
  FakeKernel kernel;
  kernel.result = -EFAULT;
  PolicyReader reader(kernel.Calls());
  EXPECT_FALSE(reader.OfMapping(0x7000));
  EXPECT_EQ(reader.refused(), 0);
  kernel.result = 0;
  EXPECT_TRUE(reader.OfMapping(0x7000));
}

TEST(MemoryPolicy, ARefusalIsKeptAndNothingIsAskedAgain) {
  FakeKernel kernel;
  kernel.result = -EPERM;
  PolicyReader reader(kernel.Calls());
  EXPECT_FALSE(reader.OfMapping(0x7000));
  EXPECT_EQ(reader.refused(), EPERM);
  kernel.result = 0;
  EXPECT_FALSE(reader.OfMapping(0x7000));
  EXPECT_FALSE(reader.OfThisThread());
  EXPECT_EQ(kernel.asked, 1);
}

TEST(MemoryPolicy, ModesHaveTheirNames) {
  EXPECT_EQ(PolicyModeName(MPOL_DEFAULT), "default");
  EXPECT_EQ(PolicyModeName(MPOL_INTERLEAVE), "interleave");
  EXPECT_EQ(PolicyModeName(5), "preferred_many");
  EXPECT_EQ(PolicyModeName(99), "unknown");
  EXPECT_EQ(PolicyModeName(MakePolicy(MPOL_PREFERRED, {}).mode), "local");
  base::BitMask one;
  one.Set(1);
  EXPECT_EQ(PolicyModeName(MakePolicy(MPOL_PREFERRED, one).mode), "preferred");
}

// The kernel's own word: a mapping without a policy is "default" even where its thread has one.
TEST(MemoryPolicy, TheThreadsOwnPolicyIsNotTheMappings) {
  PolicyReader reader;
  if (!reader.OfThisThread()) GTEST_SKIP() << "get_mempolicy is refused: " << reader.refused();
  void* page = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  const auto start = reinterpret_cast<uint64_t>(page);
  const uint64_t node0 = 1;
  ASSERT_EQ(syscall(SYS_set_mempolicy, MPOL_BIND, &node0, 64), 0);
  EXPECT_EQ(PolicyModeName(reader.OfThisThread()->mode), "bind");
  EXPECT_EQ(PolicyModeName(reader.OfMapping(start)->mode), "default");
  ASSERT_EQ(syscall(SYS_mbind, page, 4096, MPOL_INTERLEAVE, &node0, 64, 0), 0);
  EXPECT_EQ(PolicyModeName(reader.OfMapping(start)->mode), "interleave");
  EXPECT_TRUE(reader.OfMapping(start)->nodes.Has(0));
  EXPECT_EQ(PolicyModeName(reader.OfMapping(start + 4096)->mode), "default");
  ASSERT_EQ(syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0), 0);
  munmap(page, 8192);
  EXPECT_FALSE(reader.OfMapping(start));
  EXPECT_EQ(reader.refused(), 0);
}

}  // namespace
}  // namespace memagent::os
