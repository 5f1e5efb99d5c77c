#include "agent/decode/data_source.h"

#include <gtest/gtest.h>

#include "agent/decode/data_source_bits.h"
#include "tests/support/data_source_printer.h"

namespace memagent::decode {
namespace {

using enum MemoryLevel;
using Locality::kOtherNode, Locality::kOtherSocket, Locality::kSameCore, Locality::kSameNode;
constexpr Locality kNowhere = Locality::kUnknown;

DataSource Source(MemoryOp op, MemoryLevel level, Locality locality = kNowhere,
                  Snoop snoop = Snoop::kUnknown, TlbLevel tlb = TlbLevel::kUnknown) {
  DataSource source;
  source.op = op;
  source.level = level;
  source.locality = locality;
  source.snoop = snoop;
  source.tlb = tlb;
  return source;
}

// IBS and PEBS loads whose address was in the first TLB level that the producer can name.
DataSource Ibs(MemoryLevel level, Locality locality = kNowhere, Snoop snoop = Snoop::kUnknown) {
  return Source(MemoryOp::kLoad, level, locality, snoop, TlbLevel::kL1);
}
DataSource Pebs(MemoryLevel level, Locality locality = kNowhere, Snoop snoop = Snoop::kUnknown) {
  return Source(MemoryOp::kLoad, level, locality, snoop, TlbLevel::kL1OrL2);
}
DataSource Spe(MemoryLevel level, Locality locality = kNowhere, Snoop snoop = Snoop::kUnknown) {
  return Source(MemoryOp::kLoad, level, locality, snoop);
}

// The words are those of perf_abi 2.5 and 2.7.
TEST(DataSource, IbsLoadsOfZen4) {
  EXPECT_EQ(DecodeDataSource(0x229080142), Ibs(kL1, kSameCore));
  EXPECT_EQ(DecodeDataSource(0x1829080242), Ibs(kLineFillBuffer, kSameCore));
  EXPECT_EQ(DecodeDataSource(0x429080442), Ibs(kL2, kSameCore));
  EXPECT_EQ(DecodeDataSource(0x629080842), Ibs(kL3, kSameNode));
  EXPECT_EQ(DecodeDataSource(0x629800842), Ibs(kL3, kSameNode, Snoop::kModified));
  EXPECT_EQ(DecodeDataSource(0x1a29081042), Ibs(kDram, kSameNode));
  EXPECT_EQ(DecodeDataSource(0x103a29082042), Ibs(kDram, kOtherNode));
  EXPECT_EQ(DecodeDataSource(0x14290a0042), Ibs(kIo));
  EXPECT_EQ(DecodeDataSource(0x10290c0042), Ibs(kUncached));
  EXPECT_EQ(DecodeDataSource(0x1e29080022), Ibs(MemoryLevel::kUnknown));
}

TEST(DataSource, IbsStoresTellOnlyL1L2OrNothing) {
  const auto store = [](MemoryLevel level, Locality locality) {
    return Source(MemoryOp::kStore, level, locality, Snoop::kUnknown, TlbLevel::kL1);
  };
  EXPECT_EQ(DecodeDataSource(0x229080144), store(kL1, kSameCore));
  EXPECT_EQ(DecodeDataSource(0x429080444), store(kL2, kSameCore));
  EXPECT_EQ(DecodeDataSource(0x1e29080024), store(MemoryLevel::kUnknown, kNowhere));
}

TEST(DataSource, NotAvailableOfOldAndNewKernelsIsNoAccess) {
  EXPECT_EQ(DecodeDataSource(0x1e05080021), DataSource{});
  EXPECT_EQ(DecodeDataSource(0x05080021), DataSource{});  // Linux 6.1
  EXPECT_EQ(DecodeDataSource(0), DataSource{});
}

// Trap 1: AMD on Linux 6.1 fills the level bits alone.
TEST(DataSource, LevelBitsDecideWithoutANumber) {
  EXPECT_EQ(DecodeDataSource(0x29080142), Ibs(kL1, kSameCore));
  EXPECT_EQ(DecodeDataSource(0x29081042), Ibs(kDram, kSameNode));
  EXPECT_EQ(DecodeDataSource(0x29082042), Ibs(kDram, kOtherNode));
  EXPECT_EQ(DecodeDataSource(0x29090042), Ibs(kPeerCache, kOtherNode));
  EXPECT_EQ(DecodeDataSource(0x29800842), Ibs(kL3, kSameNode, Snoop::kModified));
  // A neighbour in the node here, another socket with Intel before 4.14.
  EXPECT_EQ(DecodeDataSource(0x29088042), Ibs(kPeerCache, kNowhere));
}

// Trap 2: Intel sources 0xe and 0xf.
TEST(DataSource, LevelBitsDecideBesideANumberNotAvailable) {
  EXPECT_EQ(DecodeDataSource(0x11e68120042), Pebs(kIo, kNowhere, Snoop::kNone));
  EXPECT_EQ(DecodeDataSource(0x11e68140042), Pebs(kUncached, kNowhere, Snoop::kNone));
}

// Trap 3: Skylake to Sapphire Rapids set "hit" without any level.
TEST(DataSource, NumberAndRemoteBitDecideWithoutALevelBit) {
  EXPECT_EQ(DecodeDataSource(0x13a68100042), Pebs(kDram, kOtherNode, Snoop::kNone));
  EXPECT_EQ(DecodeDataSource(0x17668000042), Pebs(kPeerCache, kOtherNode, Snoop::kForward));
  EXPECT_EQ(DecodeDataSource(0x13668800042), Pebs(kPeerCache, kOtherNode, Snoop::kModified));
  EXPECT_EQ(DecodeDataSource(0x11c68200042), Pebs(kPmem, kSameNode, Snoop::kHit));
  EXPECT_EQ(DecodeDataSource(0x13c68200042), Pebs(kPmem, kOtherNode, Snoop::kHit));
}

// Trap 4: AMD's persistent memory and CXL have neither level bit, nor hit, nor miss.
TEST(DataSource, NumberDecidesWithoutAnyOldBit) {
  EXPECT_EQ(DecodeDataSource(0x1c29080002), Ibs(kPmem, kSameNode));
  EXPECT_EQ(DecodeDataSource(0x103c29080002), Ibs(kPmem, kOtherNode));
  EXPECT_EQ(DecodeDataSource(0x1229080002), Ibs(kCxl, kSameNode));
  EXPECT_EQ(DecodeDataSource(0x103229080002), Ibs(kCxl, kOtherNode));
}

// Trap 5: the halves disagree.
TEST(DataSource, RemoteMemoryBitBesideL3IsMemory) {
  EXPECT_EQ(DecodeDataSource(0x12668202042), Pebs(kDram, kOtherNode, Snoop::kHit));
}

TEST(DataSource, RemoteCacheBitBesideL3IsL3) {
  EXPECT_EQ(DecodeDataSource(0x12668208042), Pebs(kL3, kOtherNode, Snoop::kHit));
  EXPECT_EQ(DecodeDataSource(0x12668808042), Pebs(kL3, kOtherNode, Snoop::kModified));
}

TEST(DataSource, LocalCacheOfAmdBeforeZen4IsL3ForEveryKernel) {
  EXPECT_EQ(DecodeDataSource(0x81629088842), Ibs(kL3, kSameNode));
  EXPECT_EQ(DecodeDataSource(0x29088842), Ibs(kL3, kSameNode));  // Linux 6.1
  EXPECT_EQ(DecodeDataSource(0x81629808842), Ibs(kL3, kSameNode, Snoop::kModified));
}

// Trap 6: "remote" is another core complex here.
TEST(DataSource, HopsZeroIsSameNodeThoughRemote) {
  EXPECT_EQ(DecodeDataSource(0x83629088042), Ibs(kPeerCache, kSameNode));
  EXPECT_EQ(DecodeDataSource(0x83629808042), Ibs(kPeerCache, kSameNode, Snoop::kModified));
  EXPECT_EQ(DecodeDataSource(0x103629090042), Ibs(kPeerCache, kOtherNode));
}

TEST(DataSource, TwoAndThreeHopsAreAnotherSocket) {
  EXPECT_EQ(DecodeDataSource(0x183a00000042), Spe(kDram, kOtherSocket));
  EXPECT_EQ(DecodeDataSource(0x203a00000042), Spe(kDram, kOtherSocket));
}

// Trap 7: beyond the level that was missed, and no nearer or farther than that.
TEST(DataSource, MissesSayWhatWasMissedOnly) {
  EXPECT_EQ(DecodeDataSource(0x10668080082), Pebs(kBeyondL3));
  EXPECT_EQ(DecodeDataSource(0x10668800882), Pebs(kBeyondL3, kNowhere, Snoop::kModified));
  EXPECT_EQ(DecodeDataSource(0x400080482), Spe(kBeyondL2));
  EXPECT_EQ(DecodeDataSource(0x2600080882), Spe(kBeyondL3, kOtherNode));
  EXPECT_EQ(DecodeDataSource(0x1e05080184), Source(MemoryOp::kStore, kBeyondL1));
  EXPECT_EQ(DecodeDataSource(0x1082), Spe(MemoryLevel::kUnknown));
}

TEST(DataSource, ArmSources) {
  EXPECT_EQ(DecodeDataSource(0x200100142), Spe(kL1, kSameCore, Snoop::kNone));
  EXPECT_EQ(DecodeDataSource(0x8400080442), Spe(kL2, kSameNode, Snoop::kPeer));
  EXPECT_EQ(DecodeDataSource(0x8600080842), Spe(kL3, kSameNode, Snoop::kPeer));
  EXPECT_EQ(DecodeDataSource(0x600200842), Spe(kL3, kSameNode, Snoop::kHit));
  // A remote chip's cache or memory: the hardware does not say which.
  EXPECT_EQ(DecodeDataSource(0xbe00080022), Spe(MemoryLevel::kUnknown, kOtherNode, Snoop::kPeer));
  EXPECT_EQ(DecodeDataSource(0x1a00101042), Spe(kDram, kSameNode, Snoop::kNone));
  // HiSilicon: a peer cluster is near in spite of its level bit; a remote socket has no "hit".
  EXPECT_EQ(DecodeDataSource(0x8600088042), Spe(kL3, kSameNode, Snoop::kPeer));
  EXPECT_EQ(DecodeDataSource(0xb600810002), Spe(kPeerCache, kOtherNode, Snoop::kModified));
  EXPECT_EQ(DecodeDataSource(0x3a00082042), Spe(kDram, kOtherNode));
}

TEST(DataSource, LevelsThatOnlySomeIntelPartsHave) {
  EXPECT_EQ(DecodeDataSource(0x10868200042), Pebs(kL4, kSameNode, Snoop::kHit));
  EXPECT_EQ(DecodeDataSource(0x10a68100042), Pebs(kLineFillBuffer, kSameCore, Snoop::kNone));
  EXPECT_EQ(DecodeDataSource(0x10c68100042), Pebs(kMemorySideCache, kSameNode, Snoop::kNone));
  EXPECT_EQ(DecodeDataSource(0x10e68100042), Pebs(kL1, kSameCore, Snoop::kNone));  // L0
  EXPECT_EQ(DecodeDataSource(0x10468800442), Pebs(kL2, kSameNode, Snoop::kModified));
}

TEST(DataSource, RegionIsKeptAndMmioIsIo) {
  DataSource shared = Pebs(kL3, kSameNode, Snoop::kHit);
  shared.region = mem::region::kOtherShared;
  EXPECT_EQ(DecodeDataSource(0x1410668200842), shared);
  DataSource mmio = Pebs(kIo, kNowhere, Snoop::kNone);
  mmio.region = mem::region::kMmio;
  EXPECT_EQ(DecodeDataSource(0x1c11a68100042), mmio);
  DataSource memory7 = Pebs(kDram, kOtherNode, Snoop::kNone);
  memory7.region = mem::region::kMemory0 + 7;
  EXPECT_EQ(DecodeDataSource(0x3c13a68102042), memory7);
}

TEST(DataSource, LockAndBlocks) {
  EXPECT_TRUE(DecodeDataSource(0x22a080142).locked);
  EXPECT_FALSE(DecodeDataSource(0x229080142).locked);
  EXPECT_TRUE(DecodeDataSource(0x20268100142).blocked_data);
  EXPECT_FALSE(DecodeDataSource(0x20268100142).blocked_address);
  EXPECT_TRUE(DecodeDataSource(0x40268100142).blocked_address);
  EXPECT_FALSE(DecodeDataSource(0x10268100142).blocked_data);
}

TEST(DataSource, TlbOfEachProducer) {
  EXPECT_EQ(DecodeDataSource(0x229080142).tlb, TlbLevel::kL1);
  EXPECT_EQ(DecodeDataSource(0x249080142).tlb, TlbLevel::kL2);
  EXPECT_EQ(DecodeDataSource(0x251080142).tlb, TlbLevel::kWalk);
  EXPECT_EQ(DecodeDataSource(0x10650100842).tlb, TlbLevel::kWalk);
  EXPECT_EQ(DecodeDataSource(0x1e88080022).tlb, TlbLevel::kL1OrL2);  // Arm: accessed, no walk
  EXPECT_EQ(DecodeDataSource(0x1e90080022).tlb, TlbLevel::kWalk);
  EXPECT_EQ(DecodeDataSource(mem::kTlb.Put(mem::tlb::kFault | mem::tlb::kMiss)).tlb,
            TlbLevel::kFault);
}

TEST(DataSource, StrongestOfSeveralSnoopsCounts) {
  EXPECT_EQ(DecodeDataSource(0x11a68501042).snoop, Snoop::kMiss);        // none or miss
  EXPECT_EQ(DecodeDataSource(0x11e68180022).snoop, Snoop::kNone);        // n/a or none
  EXPECT_EQ(DecodeDataSource(0x1414668200842).snoop, Snoop::kForward);   // hit or forward
  EXPECT_EQ(DecodeDataSource(0x1414668800842).snoop, Snoop::kModified);  // hitm or forward
  EXPECT_EQ(DecodeDataSource(0x8400800442).snoop, Snoop::kModified);     // hitm or peer
}

TEST(DataSource, OpsThatAreNeitherLoadNorStore) {
  EXPECT_EQ(DecodeDataSource(0x148).op, MemoryOp::kPrefetch);
  EXPECT_EQ(DecodeDataSource(0x150).op, MemoryOp::kExecute);
  EXPECT_EQ(DecodeDataSource(0x146).op, MemoryOp::kLoad);  // load and store
}

TEST(DataSource, AnyBitsGiveValuesOfTheEnums) {
  for (int shift = 0; shift < 64; ++shift) {
    for (const uint64_t pattern : {0x1ull, 0x7full, 0xffffull, 0x5a5a5a5aull}) {
      const DataSource source = DecodeDataSource(pattern << shift);
      EXPECT_LT(size_t(source.op), kMemoryOpCount);
      EXPECT_LT(size_t(source.level), kMemoryLevelCount);
      EXPECT_LT(size_t(source.locality), kLocalityCount);
      EXPECT_LT(size_t(source.snoop), kSnoopCount);
      EXPECT_LE(source.tlb, TlbLevel::kFault);
      EXPECT_LT(source.region, 32);
    }
  }
}

}  // namespace
}  // namespace memagent::decode
