#include "agent/decode/ibs_raw.h"

#include <gtest/gtest.h>

#include "tests/support/data_source_printer.h"
#include "tests/support/ibs_linux.h"

namespace memagent::decode {
namespace {

using memagent::testing::IbsRaw;
using memagent::testing::IbsRegisters;

constexpr IbsProcessor kRome = {0x17, 0x31};
constexpr IbsProcessor kMilan = {0x19, 0x01};
constexpr IbsProcessor kGenoa = {0x19, 0x11};
constexpr uint32_t kOldCaps = 0x3ff;

// Bits of IBS_OP_DATA3.
constexpr uint64_t kLoad = 1, kStore = 2, kL1TlbMiss = 4, kL2TlbMiss = 8, kTlbBit4 = 0x10,
                   kTlbBit5 = 0x20, kTlbBit6 = 0x40, kL1Miss = 0x80, kUncached = 0x4000,
                   kLocked = 0x8000, kNoBuffer = 0x10000, kLinear = 0x20000, kPhysical = 0x40000,
                   kTlbBit19 = 0x80000, kL2Miss = 0x100000, kPrefetch = 0x200000;
constexpr uint64_t kKnown = kLinear | kPhysical;
constexpr uint64_t kFarLoad = kLoad | kKnown | kL1Miss | kL2Miss;

IbsOp Op(uint64_t data3, uint64_t data2 = 0, const IbsProcessor& processor = kGenoa,
         uint32_t caps = 0xbff) {
  IbsRegisters registers;
  registers.caps = caps;
  registers.data2 = data2;
  registers.data3 = data3;
  return ParseIbsOp(IbsRaw(registers), processor).value();
}

uint64_t Word(uint64_t data3, uint64_t data2 = 0) {
  return IbsDataSource(Op(data3, data2), kGenoa);
}

// The anchors of perf_abi 2.5. Bit 5 of the source register: the line was clean.
TEST(IbsRaw, DataSourcesOfLoads) {
  EXPECT_EQ(Word(kLoad | kKnown), 0x229080142u);
  EXPECT_EQ(Word(kLoad | kKnown | kL1Miss), 0x429080442u);
  EXPECT_EQ(Word(kFarLoad, 0x21), 0x629080842u);
  EXPECT_EQ(Word(kFarLoad, 0x01), 0x629800842u);  // modified
  EXPECT_EQ(Word(kFarLoad, 0x22), 0x83629088042u);
  EXPECT_EQ(Word(kFarLoad, 0x25), 0x103629090042u);
  EXPECT_EQ(Word(kFarLoad, 0x03), 0x1a29081042u);
  EXPECT_EQ(Word(kFarLoad, 0x13), 0x103a29082042u);
  EXPECT_EQ(Word(kFarLoad, 0x06), 0x1c29080002u);
  EXPECT_EQ(Word(kFarLoad, 0x40), 0x1229080002u);
  EXPECT_EQ(Word(kFarLoad, 0x50), 0x103229080002u);
  EXPECT_EQ(Word(kFarLoad | kNoBuffer), 0x1829080242u);
  EXPECT_EQ(Word(kFarLoad), 0x1e29080022u);
  EXPECT_EQ(Word(kFarLoad, 0x44),
            0x1e29080022u);  // a peer agent's memory: not in the kernel's table
}

TEST(IbsRaw, DataSourcesOfStoresEndAtL2) {
  EXPECT_EQ(Word(kStore | kKnown), 0x229080144u);
  EXPECT_EQ(Word(kStore | kKnown | kL1Miss | kL2Miss, 0x13), 0x1e29080024u);
}

TEST(IbsRaw, LockedAndTlbMisses) {
  EXPECT_EQ(Word(kLoad | kKnown | kLocked), 0x22a080142u);
  EXPECT_EQ(Word(kLoad | kStore | kKnown | kLocked), 0x22a080142u);  // read-modify-write
  EXPECT_EQ(Word(kLoad | kKnown | kL1TlbMiss), 0x249080142u);
  EXPECT_EQ(Word(kLoad | kKnown | kL1TlbMiss | kL2TlbMiss), 0x251080142u);
}

TEST(IbsRaw, UncachedMemoryIsNotIo) {
  EXPECT_EQ(Word(kFarLoad | kUncached), 0x10290c0042u);
  EXPECT_EQ(Word(kFarLoad | kUncached, 7), 0x14290a0042u);
}

TEST(IbsRaw, NeitherLoadNorStoreIsNotAvailableWhateverStaleBitsSay) {
  EXPECT_EQ(Word(0x6300100080, 0x13), 0x1e05080021u);
  EXPECT_EQ(DecodeIbsOp(Op(0x6300100080, 0x13), kGenoa), DataSource{});
}

TEST(IbsRaw, PartsBeforeZen4HaveOneLocalCache) {
  EXPECT_EQ(IbsDataSource(Op(kFarLoad, 0x22, kRome, kOldCaps), kRome), 0x81629088842u);
  EXPECT_EQ(IbsDataSource(Op(kFarLoad, 0x02, kRome, kOldCaps), kRome), 0x81629808842u);
  EXPECT_EQ(IbsDataSource(Op(kFarLoad, 0x04, kRome, kOldCaps), kRome), 0x103629090042u);
  // Zen 3 does not tell "modified".
  EXPECT_EQ(IbsDataSource(Op(kFarLoad, 0x02, kMilan, kOldCaps), kMilan), 0x81629088842u);
}

TEST(IbsRaw, Erratum1293HidesL2AndSourceOfPrefetchesAndSharedMisses) {
  const IbsOp prefetch = Op(kFarLoad | kPrefetch | uint64_t{7} << 22, 0x03, kMilan, kOldCaps);
  EXPECT_EQ(IbsDataSource(prefetch, kMilan), 0x1e29080022u);
  EXPECT_EQ(prefetch.width_bytes, 0);
  const IbsOp shared = Op(kFarLoad | kNoBuffer, 0x03, kMilan, kOldCaps);
  EXPECT_EQ(IbsDataSource(shared, kMilan), 0x1829080242u);
}

TEST(IbsRaw, PrefetchIsNotALoadAndHasNoLatency) {
  const IbsOp op = Op(kFarLoad | kPrefetch | uint64_t{400} << 32, 0x03);
  const DataSource source = DecodeIbsOp(op, kGenoa);
  EXPECT_EQ(source.op, MemoryOp::kPrefetch);
  EXPECT_EQ(source.level, MemoryLevel::kDram);
  EXPECT_EQ(op.miss_cycles, 0);
}

TEST(IbsRaw, RemoteSocketNeedsItsCapability) {
  const uint64_t data2 = 0x213;  // memory, another node, another socket
  EXPECT_EQ(DecodeIbsOp(Op(kFarLoad, data2), kGenoa).locality, Locality::kOtherNode);
  const uint32_t zen6 = 0xbff | ibs_caps::kRemoteSocket;
  EXPECT_EQ(DecodeIbsOp(Op(kFarLoad, data2, kGenoa, zen6), kGenoa).locality,
            Locality::kOtherSocket);
  // What hit near is not of another socket, whatever an earlier op left in the register.
  EXPECT_EQ(DecodeIbsOp(Op(kLoad | kKnown, data2, kGenoa, zen6), kGenoa).locality,
            Locality::kSameCore);
}

TEST(IbsRaw, WidthIsAPowerOfTwoUpTo64) {
  const auto width = [](uint64_t code) { return Op(kLoad | kKnown | code << 22).width_bytes; };
  EXPECT_EQ(width(0), 0);
  EXPECT_EQ(width(1), 1);
  EXPECT_EQ(width(4), 8);
  EXPECT_EQ(width(7), 64);
  EXPECT_EQ(width(8), 0);
  EXPECT_EQ(width(15), 0);
}

TEST(IbsRaw, PageOfTheTlbEntryThatWasHit) {
  const auto page = [](uint64_t bits) { return Op(kLoad | kKnown | bits).tlb_page_bytes; };
  EXPECT_EQ(page(0), 1u << 12);
  EXPECT_EQ(page(kTlbBit4), 1u << 21);
  EXPECT_EQ(page(kTlbBit5), 1u << 30);
  EXPECT_EQ(page(kL1TlbMiss | kTlbBit6), 1u << 21);
  EXPECT_EQ(page(kL1TlbMiss | kTlbBit19), 1u << 30);
  EXPECT_EQ(page(kL1TlbMiss | kTlbBit4), 1u << 12);
  EXPECT_EQ(page(kL1TlbMiss | kL2TlbMiss), 0u);
  EXPECT_EQ(Op(kLoad).tlb_page_bytes, 0u);  // no address
}

TEST(IbsRaw, PageSizeIsANumberWhereTheCapabilitySaysSo) {
  const auto page = [](uint64_t bits) {
    return Op(kLoad | kLinear | bits, 0, kGenoa, 0xbff | ibs_caps::kTlbPageSize).tlb_page_bytes;
  };
  EXPECT_EQ(page(kPhysical), 1u << 12);
  EXPECT_EQ(page(kPhysical | kTlbBit4 | kL1TlbMiss | kL2TlbMiss), 1u << 21);
  EXPECT_EQ(page(kPhysical | kTlbBit5), 1u << 30);
  EXPECT_EQ(page(kPhysical | kTlbBit4 | kTlbBit5), 0u);
  EXPECT_EQ(page(kTlbBit4), 0u);  // no physical address
}

TEST(IbsRaw, RefillTimeNeedsATlbMiss) {
  EXPECT_EQ(Op(kLoad | kKnown | kL1TlbMiss | uint64_t{90} << 48).tlb_refill_cycles, 90);
  EXPECT_EQ(Op(kLoad | kKnown | uint64_t{90} << 48).tlb_refill_cycles, 0);
}

TEST(IbsRaw, AddressesThatAreNotValidAreNotShown) {
  const IbsOp op = Op(kLoad | kLinear);
  EXPECT_EQ(op.address, 0x7f133c319ce0u);
  EXPECT_FALSE(op.physical_known);
  EXPECT_EQ(op.physical, 0u);
  EXPECT_EQ(Op(kLoad | kPhysical).address, 0u);
}

TEST(IbsRaw, InstructionThatTheHardwareLostHasNoAddress) {
  IbsRegisters registers;
  registers.data = uint64_t{1} << 38;
  EXPECT_EQ(ParseIbsOp(IbsRaw(registers), kGenoa)->ip, 0u);
  registers.caps &= ~ibs_caps::kInvalidIpCheck;
  EXPECT_EQ(ParseIbsOp(IbsRaw(registers), kGenoa)->ip, registers.ip);
}

// Recorded on Genoa (perf_abi 2.7, 1).
TEST(IbsRaw, RecordedLoadFromLocalMemory) {
  IbsRegisters registers;
  registers.control = 0x5410007f424;
  registers.ip = 0xffffffff81143526;
  registers.data = 0x4f70200;
  registers.data2 = 0x23;
  registers.data3 = 0x1dc14d700a1;
  registers.address = 0xffff899f7c3b5784;
  registers.physical = 0x11f7c3b5784;
  registers.branch_target = 0xffffffff81143534;
  const auto op = ParseIbsOp(IbsRaw(registers), kGenoa);
  ASSERT_TRUE(op);
  EXPECT_EQ(op->completion_to_retire_cycles, 512);
  EXPECT_EQ(op->tag_to_retire_cycles, 1271);
  EXPECT_EQ(op->miss_cycles, 476);
  EXPECT_EQ(op->width_bytes, 4);
  EXPECT_EQ(op->tlb_page_bytes, 1u << 30);
  EXPECT_EQ(op->source, 3);
  EXPECT_FALSE(op->remote_node);
  EXPECT_TRUE(op->cache_line_clean);
  EXPECT_EQ(op->address, 0xffff899f7c3b5784u);
  EXPECT_EQ(op->physical, 0x11f7c3b5784u);
  EXPECT_EQ(IbsDataSource(*op, kGenoa), 0x1a29081042u);
}

// Published stores (perf_abi 2.7, 2 and 3).
TEST(IbsRaw, PublishedStores) {
  IbsRegisters registers;
  registers.control = 0x9e009e8968;
  registers.data = 0xb0002;
  registers.data2 = 2;
  registers.data3 = 0xc60002;
  const auto hit = ParseIbsOp(IbsRaw(registers), kRome);
  ASSERT_TRUE(hit);
  EXPECT_EQ(IbsDataSource(*hit, kRome), 0x229080144u);
  EXPECT_EQ(hit->width_bytes, 4);
  EXPECT_EQ(hit->tag_to_retire_cycles, 11);
  EXPECT_EQ(hit->miss_cycles, 0);
  const IbsOp miss = Op(0x31960092, 0x13);
  EXPECT_EQ(IbsDataSource(miss, kGenoa), 0x1e29080024u);
  EXPECT_EQ(miss.width_bytes, 32);
  EXPECT_EQ(miss.tlb_page_bytes, 1u << 21);
}

TEST(IbsRaw, ShortOrCutOrInvalidSampleIsRefused) {
  const std::vector<uint8_t> whole = IbsRaw({});
  constexpr size_t kSevenRegisters = 4 + 7 * 8;
  for (size_t size = 0; size < whole.size(); ++size) {
    const bool fits = size == kSevenRegisters;
    EXPECT_EQ(ParseIbsOp(std::span(whole).first(size), kGenoa).has_value(), fits) << size;
  }
  EXPECT_TRUE(ParseIbsOp(whole, kGenoa));
  IbsRegisters not_a_sample;
  not_a_sample.control = 0;
  EXPECT_FALSE(ParseIbsOp(IbsRaw(not_a_sample), kGenoa));
}

}  // namespace
}  // namespace memagent::decode
