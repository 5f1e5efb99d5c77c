#include "agent/decode/spe_record.h"

namespace memagent::decode {
namespace {

constexpr uint64_t kAddressMask = 0x00ff'ffff'ffff'ffff;  // the top byte of an address says more
constexpr uint64_t kTopByte = ~kAddressMask;

// A code address has its security state in bit 63 and the exception level in bits 62:61. Kernel
// addresses lose their top byte to them: those of EL1 and EL2 get it back, as perf does it.
uint8_t CodeLevel(uint64_t payload) { return static_cast<uint8_t>(payload >> 61 & 3); }

uint64_t CodeAddress(uint64_t payload) {
  const bool non_secure = payload >> 63 != 0;
  const uint8_t level = CodeLevel(payload);
  const uint64_t address = payload & kAddressMask;
  return non_secure && (level == 1 || level == 2) ? address | kTopByte : address;
}

// The top byte of a data address is a tag (MTE, top-byte-ignore): pointers of the same object
// differ in it, and a kernel address is told by the bits below.
uint64_t DataAddress(uint64_t payload) {
  const uint64_t address = payload & kAddressMask;
  return (address >> 52 & 0xf) == 0xf ? address | kTopByte : address;
}

// Which packets a record has had: each may come once.
class Seen {
 public:
  // False when it was there before. Reserved indices are nobody's.
  bool Add(const SpePacket& packet) {
    if (packet.index > 7) return true;
    const uint64_t bit = uint64_t{1} << (Group(packet.kind) * 8 + packet.index);
    const bool is_new = (bits_ & bit) == 0;
    bits_ |= bit;
    return is_new;
  }
  bool empty() const { return bits_ == 0; }

 private:
  static int Group(SpePacketKind kind) {
    switch (kind) {
      case SpePacketKind::kAddress:
        return 0;
      case SpePacketKind::kCounter:
        return 1;
      case SpePacketKind::kContext:
        return 2;
      case SpePacketKind::kEvents:
        return 3;
      case SpePacketKind::kDataSource:
        return 4;
      default:
        return 5;
    }
  }
  uint64_t bits_ = 0;
};

void TakeAddress(const SpePacket& packet, SpeRecord& record) {
  switch (static_cast<SpeAddress>(packet.index)) {
    case SpeAddress::kPc:
      record.pc = CodeAddress(packet.payload);
      record.exception_level = CodeLevel(packet.payload);
      break;
    case SpeAddress::kBranchTarget:
      record.branch_target = CodeAddress(packet.payload);
      break;
    case SpeAddress::kDataVirtual:
      record.virtual_address = DataAddress(packet.payload);
      break;
    case SpeAddress::kDataPhysical:
      record.physical_address = packet.payload & kAddressMask;
      break;
    default:
      break;
  }
}

void TakeCounter(const SpePacket& packet, SpeRecord& record) {
  const auto cycles =
      static_cast<uint16_t>(packet.payload < UINT16_MAX ? packet.payload : UINT16_MAX);
  switch (static_cast<SpeCounter>(packet.index)) {
    case SpeCounter::kTotalLatency:
      record.total_latency = cycles;
      break;
    case SpeCounter::kIssueLatency:
      record.issue_latency = cycles;
      break;
    case SpeCounter::kTranslationLatency:
      record.translation_latency = cycles;
      break;
    default:
      break;
  }
}

void TakeOperation(const SpePacket& packet, SpeRecord& record) {
  const SpeOperation operation = ParseSpeOperation(packet.index, packet.payload);
  record.operation = operation;
  if (operation.operation_class != SpeOperationClass::kMemory) return;
  (operation.is_store ? record.is_store : record.is_load) = true;
}

void TakePacket(const SpePacket& packet, SpeRecord& record) {
  switch (packet.kind) {
    case SpePacketKind::kAddress:
      TakeAddress(packet, record);
      break;
    case SpePacketKind::kCounter:
      TakeCounter(packet, record);
      break;
    case SpePacketKind::kOperation:
      TakeOperation(packet, record);
      break;
    case SpePacketKind::kEvents:
      record.events = packet.payload;
      break;
    case SpePacketKind::kDataSource:
      record.data_source = packet.payload;
      break;
    case SpePacketKind::kContext:
      record.context_id = static_cast<uint32_t>(packet.payload);
      break;
    default:
      break;
  }
}

}  // namespace

bool SpeRecordReader::Next(SpeRecord& record) {
  record = {};
  Seen seen;
  while (!bytes_.empty()) {
    const SpePacket packet = ParseSpePacket(bytes_, offset_);
    bytes_ = bytes_.subspan(packet.bytes);
    offset_ += packet.bytes;
    switch (packet.kind) {
      case SpePacketKind::kPad:
      case SpePacketKind::kAlignment:
        break;
      case SpePacketKind::kBad:
        // What came before belongs to who knows which record: start again, as perf does.
        ++counts_.bad_bytes;
        record = {};
        record.damaged = true;
        seen = {};
        break;
      case SpePacketKind::kCut:
        ++counts_.unfinished;
        return false;
      case SpePacketKind::kTimestamp:
        record.timestamp = packet.payload;
        [[fallthrough]];
      case SpePacketKind::kEnd:
        ++counts_.records;
        if (record.damaged) ++counts_.damaged;
        return true;
      default:
        if (!seen.Add(packet)) record.damaged = true;
        TakePacket(packet, record);
    }
  }
  if (!seen.empty()) ++counts_.unfinished;
  return false;
}

}  // namespace memagent::decode
