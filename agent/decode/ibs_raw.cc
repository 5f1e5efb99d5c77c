#include "agent/decode/ibs_raw.h"

#include <array>
#include <cstring>

#include "agent/decode/data_source.h"
#include "agent/decode/data_source_bits.h"

namespace memagent::decode {
namespace {

// The registers in the order in which they follow the capabilities (perf_abi 2.6).
enum IbsRegister : size_t { kControl, kIp, kData, kData2, kData3, kAddress, kPhysical, kRegisters };

using RegisterValues = std::array<uint64_t, kRegisters>;

constexpr bool Bit(uint64_t value, int bit) { return (value >> bit & 1) != 0; }

template <typename T>
constexpr T Bits(uint64_t value, int high, int low) {
  return static_cast<T>(value >> low & ((uint64_t{2} << (high - low)) - 1));
}

// Erratum 1293 (Zen 3, models 0 to 0xf): where an op is a prefetch, or missed without a buffer of
// its own, L2's miss bit, the width and the data source are wrong (perf_abi 2.5).
constexpr bool HasErratum1293(const IbsProcessor& processor) {
  return processor.family == 0x19 && processor.model <= 0xf;
}

constexpr bool L2AndSourceAreWrong(const IbsOp& op, const IbsProcessor& processor) {
  return HasErratum1293(processor) && (op.software_prefetch || op.already_on_its_way);
}

constexpr uint64_t kPage4k = uint64_t{1} << 12;
constexpr uint64_t kPage2m = uint64_t{1} << 21;
constexpr uint64_t kPage1g = uint64_t{1} << 30;

// Zen 3 and 4 have a bit for each size and TLB level; since Zen 5 it is a number, valid with the
// physical address (AMD's patch "perf/amd/ibs: Add support for OP DTLB page size", April 2025).
constexpr uint64_t TlbPageBytes(const IbsOp& op, uint64_t data3) {
  if ((op.caps & ibs_caps::kTlbPageSize) != 0) {
    constexpr std::array<uint64_t, 4> kSizes = {kPage4k, kPage2m, kPage1g, 0};
    return op.physical_known ? kSizes[Bits<size_t>(data3, 5, 4)] : 0;
  }
  if (!op.address_known || (op.l1_tlb_miss && op.l2_tlb_miss)) return 0;
  if (Bit(data3, op.l1_tlb_miss ? 6 : 4)) return kPage2m;
  if (Bit(data3, op.l1_tlb_miss ? 19 : 5)) return kPage1g;
  return kPage4k;
}

// 0: no information; n: 2^(n-1) bytes, up to 64; the rest is reserved.
constexpr uint8_t WidthBytes(uint64_t data3) {
  const int code = Bits<int>(data3, 25, 22);
  return code == 0 || code > 7 ? 0 : static_cast<uint8_t>(1 << (code - 1));
}

void TakeData2(IbsOp& op, uint64_t data2) {
  op.source = static_cast<uint8_t>(Bits<unsigned>(data2, 2, 0) | Bits<unsigned>(data2, 7, 6) << 3);
  op.remote_node = Bit(data2, 4);
  op.cache_line_clean = Bit(data2, 5);
  op.remote_socket = (op.caps & ibs_caps::kRemoteSocket) != 0 && Bit(data2, 9);
}

void TakeData3(IbsOp& op, uint64_t data3, const IbsProcessor& processor) {
  op.load = Bit(data3, 0);
  op.store = Bit(data3, 1);
  op.l1_tlb_miss = Bit(data3, 2);
  op.l2_tlb_miss = Bit(data3, 3);
  op.l1_miss = Bit(data3, 7);
  op.uncached = Bit(data3, 14);
  op.locked = Bit(data3, 15);
  op.already_on_its_way = Bit(data3, 16);
  op.address_known = Bit(data3, 17);
  op.physical_known = Bit(data3, 18);
  op.l2_miss = Bit(data3, 20);
  op.software_prefetch = Bit(data3, 21);
  if (!L2AndSourceAreWrong(op, processor)) op.width_bytes = WidthBytes(data3);
  // Bits of an earlier op may still stand where this one had nothing to say; a latency of a store
  // or of a prefetch never means anything.
  if (op.load && op.l1_miss && !op.software_prefetch)
    op.miss_cycles = Bits<uint16_t>(data3, 47, 32);
  if (op.l1_tlb_miss) op.tlb_refill_cycles = Bits<uint16_t>(data3, 63, 48);
  op.tlb_page_bytes = TlbPageBytes(op, data3);
}

// Where an op was served: what the word says of it when it is near, and when IBS says "another
// node". IBS cannot tell sockets apart here: one hop stands for any other node.
struct SourceRow {
  uint8_t source;
  bool cache;
  uint64_t near;
  uint64_t remote;
};

constexpr uint64_t kOneHop = mem::kRemote.Put(1) | mem::kHops.Put(mem::hops::kNode);

constexpr uint64_t Place(uint64_t level, uint64_t number, uint64_t distance = 0) {
  return mem::kLevel.Put(level) | mem::kNumber.Put(number) | distance;
}

constexpr uint64_t Hit(uint64_t level, uint64_t number, uint64_t distance = 0) {
  return Place(mem::level::kHit | level, number, distance);
}

constexpr SourceRow Cache(uint8_t source, uint64_t word) { return {source, true, word, word}; }

constexpr SourceRow kDram = {3, false, Hit(mem::level::kLocalRam, mem::number::kRam),
                             Hit(mem::level::kRemoteRam1, mem::number::kRam, kOneHop)};
constexpr uint64_t kIoWord = Hit(mem::level::kIo, mem::number::kIo);
constexpr uint8_t kIoSource = 7;
constexpr SourceRow kIo = {kIoSource, false, kIoWord, kIoWord};
constexpr uint64_t kFarCache = Hit(mem::level::kRemoteCache2, mem::number::kAnyCache, kOneHop);

// A neighbour in the node is "remote" with no hop.
constexpr std::array<SourceRow, 7> kZen4Sources = {{
    Cache(1, Hit(mem::level::kL3, mem::number::kL3)),
    Cache(2, Hit(mem::level::kRemoteCache1, mem::number::kAnyCache,
                 mem::kRemote.Put(1) | mem::kHops.Put(mem::hops::kCore))),
    kDram,
    Cache(5, kFarCache),
    {6, false, Place(0, mem::number::kPmem), Place(0, mem::number::kPmem, kOneHop)},
    kIo,
    {8, false, Place(0, mem::number::kCxl), Place(0, mem::number::kCxl, kOneHop)},
}};

// The far cache of old parts never says "modified".
constexpr std::array<SourceRow, 4> kOldSources = {{
    Cache(2, Hit(mem::level::kL3 | mem::level::kRemoteCache1, mem::number::kAnyCache,
                 mem::kHops.Put(mem::hops::kCore))),
    kDram,
    {4, false, kFarCache, kFarCache},
    kIo,
}};

constexpr uint8_t SourceOf(const IbsOp& op) {
  return (op.caps & ibs_caps::kZen4) != 0 ? op.source : op.source & 7;
}

const SourceRow* FindSource(const IbsOp& op) {
  const bool zen4 = (op.caps & ibs_caps::kZen4) != 0;
  const std::span<const SourceRow> rows =
      zen4 ? std::span<const SourceRow>(kZen4Sources) : std::span<const SourceRow>(kOldSources);
  for (const SourceRow& row : rows) {
    if (row.source == SourceOf(op)) return &row;
  }
  return nullptr;
}

// In the order of perf_abi 2.5.
uint64_t PlaceOf(const IbsOp& op, const IbsProcessor& processor) {
  if (op.uncached && SourceOf(op) != kIoSource) {
    return Hit(mem::level::kUncached, mem::number::kUncached);
  }
  if (!op.l1_miss) return Hit(mem::level::kL1, mem::number::kL1);
  if (!L2AndSourceAreWrong(op, processor)) {
    if (!op.l2_miss) return Hit(mem::level::kL2, mem::number::kL2);
    const SourceRow* const row = op.load ? FindSource(op) : nullptr;
    if (row != nullptr) return op.remote_node ? row->remote : row->near;
  }
  if (op.already_on_its_way) return Hit(mem::level::kLfb, mem::number::kLfb);
  return Place(mem::level::kNa, mem::number::kNa);
}

// Parts of family 0x19 before Zen 4 have no state bit to go by.
constexpr bool TellsModified(const IbsProcessor& processor) {
  return processor.family != 0x19 ||
         !(processor.model <= 0xf || (processor.model >= 0x20 && processor.model <= 0x5f));
}

uint64_t SnoopOf(const IbsOp& op, const IbsProcessor& processor, uint64_t place) {
  const SourceRow* const row = FindSource(op);
  const bool beyond_l2 = (mem::kLevel.Of(place) & (mem::level::kL1 | mem::level::kL2)) == 0;
  const bool modified = op.load && beyond_l2 && row != nullptr && row->cache &&
                        !op.cache_line_clean && TellsModified(processor);
  return mem::kSnoop.Put(modified ? mem::snoop::kHitM : mem::snoop::kNa);
}

uint64_t TlbOf(const IbsOp& op) {
  const bool needs_physical = (op.caps & ibs_caps::kTlbPageSize) != 0;
  if (!op.address_known || (needs_physical && !op.physical_known)) {
    return mem::kTlb.Put(mem::tlb::kNa);
  }
  if (!op.l1_tlb_miss) return mem::kTlb.Put(mem::tlb::kL1 | mem::tlb::kHit);
  return mem::kTlb.Put(mem::tlb::kL2 | (op.l2_tlb_miss ? mem::tlb::kMiss : mem::tlb::kHit));
}

}  // namespace

std::optional<IbsOp> ParseIbsOp(std::span<const uint8_t> raw, const IbsProcessor& processor) {
  IbsOp op;
  RegisterValues registers;
  if (raw.size() < sizeof(op.caps) + sizeof(registers)) return std::nullopt;
  if ((raw.size() - sizeof(op.caps)) % sizeof(uint64_t) != 0) return std::nullopt;
  memcpy(&op.caps, raw.data(), sizeof(op.caps));
  memcpy(registers.data(), raw.data() + sizeof(op.caps), sizeof(registers));
  constexpr int kSampleValid = 18;
  if (!Bit(registers[kControl], kSampleValid)) return std::nullopt;

  const uint64_t data = registers[kData];
  const bool ip_wrong = (op.caps & ibs_caps::kInvalidIpCheck) != 0 && Bit(data, 38);
  op.ip = ip_wrong ? 0 : registers[kIp];
  op.completion_to_retire_cycles = Bits<uint16_t>(data, 15, 0);
  op.tag_to_retire_cycles = Bits<uint16_t>(data, 31, 16);
  TakeData2(op, registers[kData2]);
  TakeData3(op, registers[kData3], processor);
  if (op.address_known) op.address = registers[kAddress];
  if (op.physical_known) op.physical = registers[kPhysical];
  return op;
}

uint64_t IbsDataSource(const IbsOp& op, const IbsProcessor& processor) {
  constexpr uint64_t kNotAvailable = 0x1e05080021;  // PERF_MEM_NA
  if (!op.load && !op.store) return kNotAvailable;
  const uint64_t place = PlaceOf(op, processor);
  return mem::kOp.Put(op.load ? mem::op::kLoad : mem::op::kStore) | place |
         SnoopOf(op, processor, place) | TlbOf(op) |
         mem::kLock.Put(op.locked ? mem::lock::kLocked : mem::lock::kNa);
}

DataSource DecodeIbsOp(const IbsOp& op, const IbsProcessor& processor) {
  DataSource source = DecodeDataSource(IbsDataSource(op, processor));
  if (op.software_prefetch && source.op != MemoryOp::kUnknown) source.op = MemoryOp::kPrefetch;
  if (op.remote_socket && source.locality == Locality::kOtherNode) {
    source.locality = Locality::kOtherSocket;
  }
  return source;
}

}  // namespace memagent::decode
