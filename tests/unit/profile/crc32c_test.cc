#include "agent/profile/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace memagent::profile {
namespace {

uint32_t Sum(const std::string& text) { return Crc32c(std::span<const char>(text)); }

// Check value of the CRC catalogue, and the vectors of RFC 3720 B.4.
TEST(Crc32c, KnownVectors) {
  EXPECT_EQ(Sum("123456789"), 0xe3069283u);
  EXPECT_EQ(Sum(""), 0u);
  EXPECT_EQ(Sum(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Sum(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(Crc32c, InstructionAndTableAgreeAtEveryLengthAndAlignment) {
  std::string text(300, '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 131 + 7);
  for (size_t start = 0; start < 9; ++start) {
    for (size_t length = 0; start + length <= text.size(); ++length) {
      const std::span<const char> part(text.data() + start, length);
      ASSERT_EQ(Crc32c(part), Crc32cPortable(part)) << start << " " << length;
    }
  }
}

}  // namespace
}  // namespace memagent::profile
