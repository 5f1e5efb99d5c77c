// Lets a fuzzer change a profile below its checksums: random bytes never get a CRC right.
#ifndef MEMAGENT_TESTS_SUPPORT_FUZZ_PROFILE_H_
#define MEMAGENT_TESTS_SUPPORT_FUZZ_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "agent/profile/crc32c.h"

namespace memagent::testing {

// `bytes` with the right checksum in every chunk that stands where one is expected; the walk ends
// at the first place that holds none. Layout: agent/profile/FORMAT.md.
inline std::string WithGoodChecksums(std::string bytes) {
  constexpr size_t kCrcFieldBytes = 5;
  size_t at = 0;
  while (at < bytes.size() && bytes[at] == 0x0a) {
    uint64_t length = 0;
    for (int shift = 0; shift < 35 && ++at < bytes.size(); shift += 7) {
      length |= uint64_t{bytes[at] & 0x7fu} << shift;
      if ((bytes[at] & 0x80) == 0) break;
    }
    ++at;
    if (at > bytes.size() || length < kCrcFieldBytes || length > bytes.size() - at) break;
    const uint32_t crc =
        profile::Crc32c(std::span(bytes).subspan(at + kCrcFieldBytes, length - kCrcFieldBytes));
    std::memcpy(bytes.data() + at + 1, &crc, sizeof(crc));
    at += length;
  }
  return bytes;
}

}  // namespace memagent::testing

#endif  // MEMAGENT_TESTS_SUPPORT_FUZZ_PROFILE_H_
