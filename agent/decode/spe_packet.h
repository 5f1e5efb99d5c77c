// One packet of Arm's Statistical Profiling Extension, from the bytes of the AUX area to fields.
// Pure: no state, no system call, trusts no length. Calling thread: any.
//
// A packet is a header byte and a little-endian payload whose length the header tells; a header
// 0x20..0x23 has a second byte. Packets up to a TIMESTAMP or an END are one record
// (decode/spe_record.h). Source: Arm ARM DDI 0487, "Statistical Profiling Extension packets"
// (facts: perf_abi 4.4).
#ifndef MEMAGENT_AGENT_DECODE_SPE_PACKET_H_
#define MEMAGENT_AGENT_DECODE_SPE_PACKET_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace memagent::decode {

enum class SpePacketKind : uint8_t {
  kPad,  // a run of zero bytes: the hardware and the kernel fill with them
  kAlignment,
  kEnd,        // ends a record where timestamps are off
  kTimestamp,  // ends a record. Payload: ticks of the generic timer
  kEvents,     // payload: a bit for each event, SpeEvent
  kDataSource,
  kContext,    // index: 0 and up for CONTEXTIDR_EL1 and up
  kOperation,  // index: the class, SpeOperationClass; payload: decode/spe_operation.h
  kAddress,    // index: SpeAddress
  kCounter,    // index: SpeCounter
  kBad,        // one byte that no packet starts with
  kCut,        // the bytes end within this packet
};

// What an address packet holds. Others are reserved.
enum class SpeAddress : uint8_t {
  kPc = 0,
  kBranchTarget = 1,
  kDataVirtual = 2,
  kDataPhysical = 3,
  kPreviousTarget = 4,
};

// What a counter packet holds, in cycles. Others are reserved.
enum class SpeCounter : uint8_t {
  kTotalLatency = 0,
  kIssueLatency = 1,
  kTranslationLatency = 2,
};

// Bit numbers of an events packet. Which of them a CPU reports is told by caps/event_filter.
enum class SpeEvent : uint8_t {
  kException = 0,
  kRetired = 1,
  kL1Access = 2,
  kL1Refill = 3,
  kTlbAccess = 4,
  kTlbWalk = 5,
  kNotTaken = 6,
  kMispredicted = 7,
  kLastLevelAccess = 8,
  kLastLevelMiss = 9,
  kRemoteAccess = 10,
  kMisaligned = 11,
  kTransactional = 16,
  kPartialPredicate = 17,
  kEmptyPredicate = 18,
  kL2Access = 19,
  kL2Miss = 20,
  kModified = 21,
  kRecentlyFetched = 22,  // the line was on its way already
  kSnooped = 23,
};

struct SpePacket {
  SpePacketKind kind = SpePacketKind::kBad;
  uint8_t index = 0;
  size_t bytes = 0;  // header included; never 0
  uint64_t payload = 0;
};

// The packet at the start of `bytes`, which is not empty. `offset` is where that start lies in the
// AUX stream: alignment packets fill up to a multiple of it.
SpePacket ParseSpePacket(std::span<const uint8_t> bytes, uint64_t offset);

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_SPE_PACKET_H_
