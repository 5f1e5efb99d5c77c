#include "agent/decode/spe_data_source.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "agent/decode/data_source.h"
#include "agent/decode/data_source_bits.h"

namespace memagent::decode {
namespace {

// Implementer and part number: MIDR bits 31:24 and 15:4.
constexpr uint64_t kMidrModel = 0xff00'fff0;
constexpr uint64_t Model(uint64_t implementer, uint64_t part) {
  return implementer << 24 | part << 4;
}

constexpr uint64_t kArm = 0x41, kHisilicon = 0x48, kNvidia = 0x4e, kAmpere = 0xc0;

struct KnownCore {
  uint64_t model;
  SpeEncoding encoding;
};

constexpr KnownCore kCores[] = {
    {Model(kArm, 0xd0c), SpeEncoding::kCommon},     // Neoverse N1, Ampere Altra as well
    {Model(kArm, 0xd40), SpeEncoding::kCommon},     // Neoverse V1
    {Model(kArm, 0xd44), SpeEncoding::kCommon},     // Cortex-X1
    {Model(kArm, 0xd49), SpeEncoding::kCommon},     // Neoverse N2
    {Model(kArm, 0xd4b), SpeEncoding::kCommon},     // Cortex-A78C
    {Model(kArm, 0xd4c), SpeEncoding::kCommon},     // Cortex-X1C
    {Model(kArm, 0xd4d), SpeEncoding::kCommon},     // Cortex-A715
    {Model(kArm, 0xd4e), SpeEncoding::kCommon},     // Cortex-X3
    {Model(kArm, 0xd4f), SpeEncoding::kCommon},     // Neoverse V2, NVIDIA Grace
    {Model(kArm, 0xd81), SpeEncoding::kCommon},     // Cortex-A720
    {Model(kArm, 0xd82), SpeEncoding::kCommon},     // Cortex-X4
    {Model(kArm, 0xd84), SpeEncoding::kCommon},     // Neoverse V3
    {Model(kArm, 0xd85), SpeEncoding::kCommon},     // Cortex-X925
    {Model(kArm, 0xd87), SpeEncoding::kCommon},     // Cortex-A725
    {Model(kArm, 0xd89), SpeEncoding::kCommon},     // Cortex-A720AE
    {Model(kNvidia, 0x010), SpeEncoding::kCommon},  // Olympus
    {Model(kAmpere, 0xac4), SpeEncoding::kAmpereOne},
    {Model(kHisilicon, 0xd06), SpeEncoding::kHisilicon},  // HIP12
};

// What a source says, as fields of perf_mem_data_src.
struct Row {
  uint64_t source;
  uint64_t word;
};

constexpr uint64_t At(uint64_t level_bits, uint64_t number) {
  return mem::kLevel.Put(level_bits) | mem::kNumber.Put(number);
}
constexpr uint64_t Hit(uint64_t level_bits, uint64_t number) {
  return At(level_bits | mem::level::kHit, number);
}
constexpr uint64_t kHitL1 = Hit(mem::level::kL1, mem::number::kL1);
constexpr uint64_t kHitL2 = Hit(mem::level::kL2, mem::number::kL2);
constexpr uint64_t kHitL3 = Hit(mem::level::kL3, mem::number::kL3);
constexpr uint64_t kLocalRam = Hit(mem::level::kLocalRam, mem::number::kRam);
constexpr uint64_t kNotTold = At(mem::level::kNa, mem::number::kNa);
constexpr uint64_t kAskedNobody = mem::kSnoop.Put(mem::snoop::kNone);
constexpr uint64_t kSnoopHit = mem::kSnoop.Put(mem::snoop::kHit);
constexpr uint64_t kModified = mem::kSnoop.Put(mem::snoop::kHitM);
constexpr uint64_t kPeer = mem::kSnoopX.Put(mem::snoopx::kPeer);
constexpr uint64_t kRemote = mem::kRemote.Put(1);

constexpr Row kCommonRows[] = {
    {0x0, kHitL1 | kAskedNobody},
    {0x8, kHitL2 | kAskedNobody},
    {0x9, kHitL2 | kPeer},              // a peer core
    {0xa, kHitL3 | kPeer},              // the local cluster
    {0xb, kHitL3 | kSnoopHit},          // the system cache
    {0xc, kHitL3 | kPeer},              // a peer cluster
    {0xd, kNotTold | kRemote | kPeer},  // another chip: its caches or its memory
    {0xe, kLocalRam | kAskedNobody},    // memory, of whom is not told
};

constexpr Row kAmpereOneRows[] = {
    {0x0, kHitL2 | kPeer},              // a cache of this chip, or a device
    {0x3, kHitL3 | kSnoopHit},          // the system cache
    {0x5, kNotTold | kRemote | kPeer},  // a cache of another chip
    {0x7, kLocalRam | kAskedNobody},    // memory, of whom is not told
    {0x8, kHitL1 | kAskedNobody},
    {0x9, kHitL2 | kAskedNobody},
};

constexpr uint64_t kPeerCluster = Hit(mem::level::kRemoteCache1, mem::number::kL3) | kPeer;
constexpr uint64_t kOtherSocket =
    At(mem::level::kRemoteCache2, mem::number::kAnyCache) | kRemote | kPeer;
constexpr Row kHisiliconRows[] = {
    {0x0, kHitL2 | kPeer},  // a peer core
    {0x1, kHitL2 | kPeer | kModified},
    {0x2, kHitL3 | kSnoopHit},
    {0x3, kHitL3 | kModified},
    {0x4, kPeerCluster},
    {0x5, kPeerCluster | kModified},
    {0x6, kOtherSocket},
    {0x7, kOtherSocket | kModified},
    {0x8, kLocalRam | kAskedNobody},
    {0x9, Hit(mem::level::kRemoteRam1, mem::number::kRam) | kRemote},
    {0xd, Hit(mem::level::kIo, mem::number::kIo) | kAskedNobody},  // a device, not cached
    {0x10, kHitL2 | kAskedNobody},
    {0x11, kHitL2 | kModified},
    {0x12, kHitL1 | kAskedNobody},
};

std::span<const Row> RowsOf(SpeEncoding encoding) {
  switch (encoding) {
    case SpeEncoding::kCommon:
      return kCommonRows;
    case SpeEncoding::kAmpereOne:
      return kAmpereOneRows;
    case SpeEncoding::kHisilicon:
      return kHisiliconRows;
    case SpeEncoding::kUnknown:
      break;
  }
  return {};
}

// 0 when the code does not have it.
uint64_t SourceWord(SpeEncoding encoding, uint64_t source) {
  for (const Row& row : RowsOf(encoding)) {
    if (row.source == source) return row.word;
  }
  return 0;
}

// A cache that events tell of.
struct CacheEvents {
  SpeEvent access;
  SpeEvent miss;
  uint64_t level;
  uint64_t number;

  bool Missed(const SpeRecord& record) const { return record.Has(miss); }
  bool WasHit(const SpeRecord& record) const { return record.Has(access) && !record.Has(miss); }
  uint64_t HitWord() const { return Hit(level, number); }
  uint64_t MissWord() const { return At(level | mem::level::kMiss, number); }
};
constexpr CacheEvents kL1 = {SpeEvent::kL1Access, SpeEvent::kL1Refill, mem::level::kL1,
                             mem::number::kL1};
constexpr CacheEvents kL2 = {SpeEvent::kL2Access, SpeEvent::kL2Miss, mem::level::kL2,
                             mem::number::kL2};
constexpr CacheEvents kL3 = {SpeEvent::kLastLevelAccess, SpeEvent::kLastLevelMiss, mem::level::kL3,
                             mem::number::kL3};

// A load was served by the nearest cache it hit; if it hit none, by what lies beyond the farthest
// that it missed.
uint64_t LoadLevelByEvents(const SpeRecord& record) {
  if (kL1.WasHit(record)) return kL1.HitWord();
  if (record.Has(SpeEvent::kRecentlyFetched)) return Hit(mem::level::kLfb, mem::number::kLfb);
  if (kL2.WasHit(record)) return kL2.HitWord();
  if (kL3.WasHit(record)) return kL3.HitWord();
  for (const CacheEvents* cache : {&kL3, &kL2, &kL1}) {
    if (cache->Missed(record)) return cache->MissWord();
  }
  return 0;
}

// Of a store, the farthest cache that it came to.
uint64_t StoreLevelByEvents(const SpeRecord& record) {
  for (const CacheEvents* cache : {&kL3, &kL2, &kL1}) {
    if (cache->Missed(record)) return cache->MissWord();
    if (cache->WasHit(record)) return cache->HitWord();
  }
  return 0;
}

uint64_t SnoopByEvents(const SpeRecord& record, bool tells_snoops) {
  if (record.Has(SpeEvent::kSnooped)) {
    return record.Has(SpeEvent::kModified) ? kModified : kSnoopHit;
  }
  return mem::kSnoop.Put(tells_snoops ? mem::snoop::kNone : mem::snoop::kNa);
}

uint64_t TlbByEvents(const SpeRecord& record) {
  if (record.Has(SpeEvent::kTlbWalk)) return mem::kTlb.Put(mem::tlb::kWalker | mem::tlb::kMiss);
  if (record.Has(SpeEvent::kTlbAccess)) return mem::kTlb.Put(mem::tlb::kWalker | mem::tlb::kHit);
  return 0;
}

// Fills what the data source, whose word is given, did not tell.
uint64_t WithEvents(uint64_t word, const SpeRecord& record, const SpeCpu& cpu) {
  word |= mem::kOp.Put(record.is_load ? mem::op::kLoad : mem::op::kStore);
  if (mem::kLevel.Of(word) == 0) {
    word |= record.is_load ? LoadLevelByEvents(record) : StoreLevelByEvents(record);
  }
  if (mem::kLevel.Of(word) == 0) word |= kNotTold;
  if (mem::kSnoop.Of(word) == 0) word |= SnoopByEvents(record, cpu.tells_snoops);
  if (record.Has(SpeEvent::kRemoteAccess)) word |= kRemote;
  return word | TlbByEvents(record);
}

}  // namespace

SpeEncoding SpeEncodingOf(uint64_t midr) {
  const uint64_t model = midr & kMidrModel;
  const auto* const core =
      std::find_if(std::begin(kCores), std::end(kCores),
                   [&](const KnownCore& known) { return known.model == model; });
  return core == std::end(kCores) ? SpeEncoding::kUnknown : core->encoding;
}

uint64_t SpePerfDataSource(const SpeRecord& record, const SpeCpu& cpu) {
  if (!record.is_memory_access()) return 0;
  uint64_t word = SourceWord(cpu.encoding, record.data_source.value_or(0));
  // AmpereOne's sources are looked up before it is asked whether this is a store.
  const bool looks_up_first = cpu.encoding == SpeEncoding::kAmpereOne;
  if (record.is_store && cpu.encoding != SpeEncoding::kUnknown && (word != 0 || !looks_up_first)) {
    word = kNotTold | mem::kSnoop.Put(mem::snoop::kNa);
  }
  return WithEvents(word, record, cpu);
}

DataSource SpeDataSource(const SpeRecord& record, const SpeCpu& cpu) {
  if (!record.is_memory_access()) return {};
  const bool has_source = record.data_source.has_value() && !record.is_store;
  const uint64_t told = has_source ? SourceWord(cpu.encoding, *record.data_source) : 0;
  DataSource source = DecodeDataSource(WithEvents(told, record, cpu));
  if (told == (kLocalRam | kAskedNobody) && cpu.encoding != SpeEncoding::kHisilicon &&
      !source.remote()) {
    source.locality = Locality::kUnknown;
  }
  source.locked = record.operation.atomic || record.operation.exclusive;
  return source;
}

}  // namespace memagent::decode
