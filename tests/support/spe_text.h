// Arm SPE packets in the words of perf 7.2's `perf report --dump-raw-trace`, for comparison with
// its listings.
#ifndef MEMAGENT_TESTS_SUPPORT_SPE_TEXT_H_
#define MEMAGENT_TESTS_SUPPORT_SPE_TEXT_H_

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/decode/spe_operation.h"
#include "agent/decode/spe_packet.h"

namespace memagent::testing {

template <typename... Args>
std::string Format(const char* format, Args... args) {
  char text[160];
  std::snprintf(text, sizeof(text), format, args...);
  return text;
}

inline std::string SpeMemoryText(const decode::SpeOperation& operation) {
  using Kind = decode::SpeMemoryKind;
  static constexpr std::pair<Kind, const char*> kKinds[] = {
      {Kind::kGeneralRegister, " GP-REG"},
      {Kind::kVectorRegister, " SIMD-FP"},
      {Kind::kUnspecifiedRegister, " UNSPEC-REG"},
      {Kind::kSystemRegister, " NV-SYSREG"},
      {Kind::kTag, " MTE-TAG"},
      {Kind::kCopy, " MEMCPY"},
      {Kind::kSet, " MEMSET"},
      {Kind::kControlStack, " GCS"},
  };
  std::string text = operation.is_store ? "ST" : "LD";
  for (const auto& [kind, name] : kKinds) {
    if (kind == operation.kind) text += name;
  }
  if (operation.kind == Kind::kScalableVector) {
    text += Format(" SVE-SME-REG EVLEN %d", operation.vector_bits);
  }
  const std::pair<bool, const char*> flags[] = {
      {operation.atomic, " AT"},          {operation.exclusive, " EXCL"},
      {operation.acquire_release, " AR"}, {operation.predicated, " PRED"},
      {operation.gather_scatter, " SG"},  {operation.common_stack_operation, " COMM"},
  };
  for (const auto& [is_set, name] : flags) {
    if (is_set) text += name;
  }
  return text;
}

inline std::string SpeOperationText(const decode::SpePacket& packet) {
  const decode::SpeOperation operation = decode::ParseSpeOperation(packet.index, packet.payload);
  switch (operation.operation_class) {
    case decode::SpeOperationClass::kMemory:
      return SpeMemoryText(operation);
    case decode::SpeOperationClass::kBranch:
      return std::string("B") + ((packet.payload & 1) != 0 ? " COND" : "") +
             ((packet.payload & 2) != 0 ? " IND" : "");
    default:
      return (packet.payload & 0xf8) == 0 ? "OTHER INSN-OTHER" : "OTHER";
  }
}

inline std::string SpeEventsText(uint64_t events) {
  static constexpr const char* kNames[] = {
      "EXCEPTION-GEN", "RETIRED", "L1D-ACCESS", "L1D-REFILL", "TLB-ACCESS",    "TLB-REFILL",
      "NOT-TAKEN",     "MISPRED", "LLC-ACCESS", "LLC-REFILL", "REMOTE-ACCESS", "ALIGNMENT"};
  std::string text = "EV";
  for (size_t bit = 0; bit < std::size(kNames); ++bit) {
    if ((events >> bit & 1) != 0) text += std::string(" ") + kNames[bit];
  }
  return text;
}

inline std::string SpeAddressText(uint8_t index, uint64_t payload) {
  using decode::SpeAddress;
  const uint64_t address = payload & 0xff'ffff'ffff'ffff;
  const int secure = static_cast<int>(payload >> 63);
  const int level = static_cast<int>(payload >> 61 & 3);
  const auto code = [&](const char* name) {
    return Format("%s 0x%lx el%d ns=%d", name, address, level, secure);
  };
  switch (static_cast<SpeAddress>(index)) {
    case SpeAddress::kPc:
      return code("PC");
    case SpeAddress::kBranchTarget:
      return code("TGT");
    case SpeAddress::kPreviousTarget:
      return code("PBT");
    case SpeAddress::kDataVirtual:
      return Format("VA 0x%lx", payload);
    case SpeAddress::kDataPhysical:
      return Format("PA 0x%lx ns=%d ch=%d pat=%x", address, secure,
                    static_cast<int>(payload >> 62 & 1), static_cast<unsigned>(payload >> 56 & 15));
  }
  return "ADDRESS?";
}

inline std::string SpePacketText(const decode::SpePacket& packet) {
  using Kind = decode::SpePacketKind;
  static constexpr const char* kCounters[] = {"TOT", "ISSUE", "XLAT"};
  switch (packet.kind) {
    case Kind::kPad:
    case Kind::kAlignment:
      return "PAD";
    case Kind::kEnd:
      return "END";
    case Kind::kTimestamp:
      return Format("TS %lu", packet.payload);
    case Kind::kEvents:
      return SpeEventsText(packet.payload);
    case Kind::kDataSource:
      return Format("DATA-SOURCE %lu", packet.payload);
    case Kind::kContext:
      return Format("CONTEXT 0x%lx el%d", packet.payload, packet.index + 1);
    case Kind::kOperation:
      return SpeOperationText(packet);
    case Kind::kAddress:
      return SpeAddressText(packet.index, packet.payload);
    case Kind::kCounter:
      return Format("LAT %lu %s", packet.payload, packet.index < 3 ? kCounters[packet.index] : "?");
    case Kind::kBad:
    case Kind::kCut:
      return "Bad packet!";
  }
  return "";
}

// One line for each packet. perf shows at most 16 bytes of padding in a line.
inline std::vector<std::string> SpeListing(std::span<const uint8_t> bytes) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < bytes.size();) {
    const decode::SpePacket packet = decode::ParseSpePacket(bytes.subspan(at), at);
    for (size_t done = 0; done < packet.bytes; done += 16) {
      const size_t count = std::min<size_t>(packet.bytes - done, 16);
      std::string hex;
      for (size_t i = 0; i < count; ++i) hex += Format(" %02x", bytes[at + done + i]);
      lines.push_back(
          Format(".  %08zx: %-48s %s", at + done, hex.c_str(), SpePacketText(packet).c_str()));
    }
    at += packet.bytes;
  }
  return lines;
}

}  // namespace memagent::testing

#endif  // MEMAGENT_TESTS_SUPPORT_SPE_TEXT_H_
