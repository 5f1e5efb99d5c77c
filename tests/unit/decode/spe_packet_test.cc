#include "agent/decode/spe_packet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "agent/decode/spe_operation.h"
#include "tests/support/spe_text.h"

namespace memagent::decode {
namespace {

using memagent::testing::SpePacketText;
using ::testing::ElementsAre;
using Bytes = std::vector<uint8_t>;

std::vector<std::string> Texts(const Bytes& bytes, uint64_t offset = 0) {
  std::vector<std::string> texts;
  for (size_t at = 0; at < bytes.size();) {
    const SpePacket packet = ParseSpePacket(std::span(bytes).subspan(at), offset + at);
    EXPECT_GT(packet.bytes, 0u);
    texts.push_back(SpePacketText(packet));
    at += packet.bytes;
  }
  return texts;
}

// Recorded on an Ampere Altra (ampere-lts-kernel issue 123).
TEST(SpePacket, RecordOfANeoverseN1) {
  EXPECT_THAT(
      Texts({0x49, 0x00, 0x52, 0x1e, 0x03, 0x99, 0x51, 0x01, 0x98, 0xf5, 0x01, 0xb2,
             0x50, 0x9e, 0xd7, 0xf1, 0x3e, 0x40, 0xff, 0x00, 0x9a, 0x01, 0x00, 0xb3,
             0x50, 0x9e, 0xd7, 0x71, 0x3f, 0x40, 0x00, 0x80, 0x43, 0x0c, 0x00, 0x00,
             0x71, 0xb3, 0x9a, 0xe9, 0xbd, 0x3e, 0x07, 0x00, 0x00}),
      ElementsAre("LD GP-REG", "EV RETIRED L1D-ACCESS L1D-REFILL TLB-ACCESS LLC-ACCESS LLC-REFILL",
                  "LAT 337 ISSUE", "LAT 501 TOT", "VA 0xff403ef1d79e50", "LAT 1 XLAT",
                  "PA 0x403f71d79e50 ns=1 ch=0 pat=0", "DATA-SOURCE 12", "PAD",
                  "TS 7966055570099"));
}

TEST(SpePacket, PayloadLengthIsInTheHeader) {
  EXPECT_THAT(Texts({0x42, 0x02, 0x52, 0x02, 0x00, 0x62, 0x02, 0, 0, 0, 0x72, 0x02, 0, 0, 0, 0, 0,
                     0, 0x80}),
              ElementsAre("EV RETIRED", "EV RETIRED", "EV RETIRED", "EV RETIRED"));
  EXPECT_THAT(
      Texts({0x43, 0x7f, 0x53, 0x34, 0x12, 0x63, 1, 0, 0, 1, 0x73, 9, 0, 0, 0, 0, 0, 0, 0}),
      ElementsAre("DATA-SOURCE 127", "DATA-SOURCE 4660", "DATA-SOURCE 16777217", "DATA-SOURCE 9"));
}

TEST(SpePacket, IndexIsInTheHeader) {
  EXPECT_THAT(
      Texts({0x64, 0xbb, 0x05, 0, 0, 0x65, 0x80, 0x5f, 0, 0, 0x48, 0x00, 0x4a, 0x03}),
      ElementsAre("CONTEXT 0x5bb el1", "CONTEXT 0x5f80 el2", "OTHER INSN-OTHER", "B COND IND"));
  EXPECT_THAT(Texts({0xb4, 0x08, 0x44, 0x21, 0xbf, 0xfd, 0x7f, 0x00, 0x80}),
              ElementsAre("PBT 0x7ffdbf214408 el0 ns=1"));
  const Bytes reserved = {0x9f, 0x01, 0x00};
  EXPECT_EQ(ParseSpePacket(reserved, 0).index, 7);
}

TEST(SpePacket, SecondHeaderByteWidensTheIndex) {
  Bytes bytes = {0x21, 0xb2, 1, 2, 3, 4, 5, 6, 7, 8};
  SpePacket packet = ParseSpePacket(bytes, 0);
  EXPECT_EQ(packet.kind, SpePacketKind::kAddress);
  EXPECT_EQ(packet.index, 8 + 2);
  EXPECT_EQ(packet.bytes, 10u);
  EXPECT_EQ(packet.payload, 0x0807060504030201u);
  bytes = {0x23, 0x98, 0x34, 0x12};
  packet = ParseSpePacket(bytes, 0);
  EXPECT_EQ(packet.kind, SpePacketKind::kCounter);
  EXPECT_EQ(packet.index, 24);
  EXPECT_EQ(packet.payload, 0x1234u);
  bytes = {0x20, 0x49, 0x00};
  EXPECT_EQ(ParseSpePacket(bytes, 0).kind, SpePacketKind::kBad);
}

TEST(SpePacket, AlignmentFillsUpToAMultipleInTheStream) {
  for (int power = 1; power <= 4; ++power) {
    const size_t alignment = size_t{1} << power;
    Bytes bytes(16, 0xff);
    bytes[0] = static_cast<uint8_t>(0x20 + power - 1);
    bytes[1] = 0;
    for (uint64_t offset = 0x1000; offset < 0x1020; ++offset) {
      const SpePacket packet = ParseSpePacket(bytes, offset);
      EXPECT_EQ(packet.kind, SpePacketKind::kAlignment);
      EXPECT_EQ((offset + packet.bytes) % alignment, 0u);
      EXPECT_LE(packet.bytes, alignment);
    }
  }
  const Bytes too_short = {0x23, 0x00, 0x00};
  EXPECT_EQ(ParseSpePacket(too_short, 0).kind, SpePacketKind::kCut);
}

TEST(SpePacket, EveryByteThatStartsNothingIsBadAlone) {
  int bad = 0;
  for (int header = 0; header < 256; ++header) {
    const Bytes bytes = {static_cast<uint8_t>(header), 0xb0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const SpePacket packet = ParseSpePacket(bytes, 0);
    if (packet.kind != SpePacketKind::kBad) continue;
    EXPECT_EQ(packet.bytes, 1u);
    ++bad;
  }
  // Known: pad, end, timestamp, 4 of events, 4 of source, 4 of context, 4 of operation, 8
  // addresses, 8 counters and 4 long headers.
  EXPECT_EQ(bad, 256 - 39);
}

TEST(SpePacket, AfterBadBytesTheNextPacketIsFound) {
  EXPECT_THAT(Texts({0x90, 0x70, 0x0a, 0x6b, 0x5a, 0x00, 0x00, 0x80, 0x99, 0x02, 0x00}),
              ElementsAre("Bad packet!", "Bad packet!", "Bad packet!", "Bad packet!", "Bad packet!",
                          "PAD", "Bad packet!", "LAT 2 ISSUE"));
}

TEST(SpePacket, EndOfBytesWithinAPacketIsCut) {
  const Bytes whole = {0x21, 0xb2, 1, 2, 3, 4, 5, 6, 7, 8};
  for (size_t size = 1; size < whole.size(); ++size) {
    const SpePacket packet = ParseSpePacket(std::span(whole).first(size), 0);
    EXPECT_EQ(packet.kind, SpePacketKind::kCut) << size;
    EXPECT_EQ(packet.bytes, size);
  }
}

TEST(SpePacket, PaddingIsOnePacket) {
  const Bytes bytes(1000, 0);
  EXPECT_EQ(ParseSpePacket(bytes, 0).kind, SpePacketKind::kPad);
  EXPECT_EQ(ParseSpePacket(bytes, 0).bytes, 1000u);
}

// The texts are perf 7.2's (facts: perf_abi 4.4).
TEST(SpeOperation, EveryFormOfLoadsAndStores) {
  const std::pair<uint8_t, const char*> forms[] = {
      {0x00, "LD GP-REG"},
      {0x01, "ST GP-REG"},
      {0x02, "LD"},
      {0x03, "ST"},
      {0x04, "LD SIMD-FP"},
      {0x05, "ST SIMD-FP"},
      {0x06, "LD AT"},
      {0x0a, "LD EXCL"},
      {0x0e, "LD AT EXCL"},
      {0x12, "LD AR"},
      {0x17, "ST AT AR"},
      {0x1f, "ST AT EXCL AR"},
      {0x10, "LD UNSPEC-REG"},
      {0x14, "LD MTE-TAG"},
      {0x20, "LD MEMCPY"},
      {0x25, "ST MEMSET"},
      {0x30, "LD NV-SYSREG"},
      {0x18, "LD SVE-SME-REG EVLEN 64"},
      {0x78, "LD SVE-SME-REG EVLEN 4096"},
      {0x8c, "LD SVE-SME-REG EVLEN 32 PRED SG"},
      {0x44, "LD GCS COMM"},
      {0x60, "LD"},
  };
  for (const auto& [payload, text] : forms) {
    EXPECT_THAT(Texts({0x49, payload}), ElementsAre(text)) << int{payload};
  }
}

}  // namespace
}  // namespace memagent::decode
