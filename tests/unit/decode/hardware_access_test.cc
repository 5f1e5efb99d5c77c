#include "agent/decode/hardware_access.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace memagent::decode {
namespace {

constexpr uint64_t kRemoteDramLoad = 0x103a29082042;  // facts: perf_abi 2.5
constexpr uint64_t kL1Store = 0x229080144;
constexpr uint64_t kNotAvailable = 0x1e05080021;

RawSample Sample(uint64_t data_src) {
  RawSample sample;
  sample.ip = 0x401000;
  sample.exact_ip = true;
  sample.address = 0x7f0000000040;
  sample.has_data_src = true;
  sample.data_src = data_src;
  sample.weight = 476;
  return sample;
}

HardwareAccess Decode(const RawSample& sample, EngineKind engine = EngineKind::kPebs) {
  return DecodeHardware(engine, sample, {});
}

TEST(HardwareAccess, LoadHasAddressSourceAndLatency) {
  const HardwareAccess load = Decode(Sample(kRemoteDramLoad));
  EXPECT_EQ(load.access.evidence, Evidence::kExact);
  EXPECT_EQ(load.access.ip, 0x401000u);
  EXPECT_EQ(load.access.address, 0x7f0000000040u);
  EXPECT_TRUE(load.access.is_load);
  EXPECT_FALSE(load.access.is_store);
  EXPECT_EQ(load.source.level, MemoryLevel::kDram);
  EXPECT_TRUE(load.source.remote());
  EXPECT_EQ(load.latency_cycles, 476u);
}

TEST(HardwareAccess, StoreIsAStore) {
  const HardwareAccess store = Decode(Sample(kL1Store));
  EXPECT_TRUE(store.access.is_store);
  EXPECT_FALSE(store.access.is_load);
}

TEST(HardwareAccess, InstructionWithoutAccessIsNoMemory) {
  const HardwareAccess none = Decode(Sample(kNotAvailable), EngineKind::kIbs);
  EXPECT_EQ(none.access.evidence, Evidence::kNone);
  EXPECT_EQ(none.why, UnattributedReason::kNotMemory);
}

TEST(HardwareAccess, AccessWithoutAddressKeepsItsCode) {
  RawSample sample = Sample(kRemoteDramLoad);
  sample.address = 0;
  const HardwareAccess load = Decode(sample);
  EXPECT_EQ(load.access.evidence, Evidence::kPcOnly);
  EXPECT_EQ(load.access.ip, 0x401000u);
  EXPECT_EQ(load.why, UnattributedReason::kAddressUnknown);
}

TEST(HardwareAccess, KernelsAddressesAreNotOurs) {
  RawSample sample = Sample(kRemoteDramLoad);
  sample.address = 0xffff899f7c3b5784;
  EXPECT_EQ(Decode(sample).why, UnattributedReason::kKernelAddress);
  EXPECT_EQ(Decode(sample).access.evidence, Evidence::kPcOnly);
  sample = Sample(kRemoteDramLoad);
  sample.ip = 0xffffffff81143526;
  EXPECT_EQ(Decode(sample).why, UnattributedReason::kKernelAddress);
}

TEST(HardwareAccess, InexactInstructionIsNotNamed) {
  RawSample sample = Sample(kRemoteDramLoad);
  sample.exact_ip = false;
  EXPECT_EQ(Decode(sample).access.ip, 0u);
  EXPECT_EQ(Decode(sample).access.evidence, Evidence::kExact);
}

// The registers of facts: perf_abi 2.7 (1), in the raw part's order, marked as a prefetch.
TEST(HardwareAccess, RegistersTellPrefetchesAndWidth) {
  const uint64_t registers[] = {
      0x000005410007f424, 0x401000, 0x4f70200, 0x23, 0x1dc14d700a1 | uint64_t{1} << 21,
      0x7f0000000040,     0,        0};
  std::vector<uint8_t> raw(4 + sizeof(registers));
  const uint32_t caps = 0x0bff;
  memcpy(raw.data(), &caps, sizeof(caps));
  memcpy(raw.data() + 4, registers, sizeof(registers));
  RawSample sample = Sample(0x1a29081042);
  sample.raw = raw;
  const HardwareAccess prefetch = Decode(sample, EngineKind::kIbs);
  EXPECT_EQ(prefetch.source.op, MemoryOp::kPrefetch);
  EXPECT_EQ(prefetch.source.level, MemoryLevel::kDram);
  EXPECT_EQ(prefetch.access.size_bytes, 4);
  EXPECT_EQ(prefetch.instruction_cycles, 1271);
  EXPECT_EQ(prefetch.page_bytes, uint64_t{1} << 30);
  EXPECT_EQ(prefetch.latency_cycles, 0u);  // a prefetch's means nothing
  EXPECT_EQ(prefetch.access.evidence, Evidence::kExact);
  EXPECT_EQ(Decode(sample, EngineKind::kPebs).source.op, MemoryOp::kLoad);  // raw is IBS's only
}

// facts: profileme. A retired instruction at 0x1200'1234.
TEST(HardwareAccess, ProfileMeTellsCodeAndFateAndNoAddress) {
  const uint64_t registers[] = {1, 0x1200'1234, 0, 1 << 4 | 1 << 1};
  std::vector<uint8_t> raw(sizeof(registers));
  memcpy(raw.data(), registers, sizeof(registers));
  RawSample sample = Sample(0);
  sample.raw = raw;
  const HardwareAccess told = Decode(sample, EngineKind::kProfileMe);
  ASSERT_TRUE(told.fate.has_value());
  EXPECT_EQ(told.fate->fate, ProfileMeFate::kRetired);
  EXPECT_EQ(told.access.ip, 0x1200'1234u);
  EXPECT_EQ(told.access.address, 0u);
  EXPECT_EQ(told.why, UnattributedReason::kNoDataAddress);
  raw[0] = 9;  // a version nobody knows
  EXPECT_FALSE(Decode(sample, EngineKind::kProfileMe).fate.has_value());
  EXPECT_EQ(Decode(sample, EngineKind::kProfileMe).access.ip, 0u);
}

TEST(HardwareAccess, RawPartThatIsCutIsNotUsed) {
  const std::vector<uint8_t> raw(11);
  RawSample sample = Sample(kRemoteDramLoad);
  sample.raw = raw;
  EXPECT_EQ(Decode(sample, EngineKind::kIbs).source.level, MemoryLevel::kDram);
}

}  // namespace
}  // namespace memagent::decode
