// The parts of .eh_frame_hdr and of a CIE that say where a function starts and ends.
#include <cstdlib>
#include <span>

#include "agent/os/function_bounds.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  // Version 1, pcrel|sdata4, udata4, datarel|sdata4, the pointer, two rows.
  memagent::testing::AddBytes(seeds, "\x01\x1b\x03\x3b\x10\0\0\0\x02\0\0\0");
  // A CIE: length, id, version, "zR", alignments, return column, one byte of augmentation data.
  memagent::testing::AddBytes(
      seeds, "\x14\0\0\0\0\0\0\0\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\0\0");
  memagent::testing::AddBytes(
      seeds, "\x1c\0\0\0\0\0\0\0\x01zPLR\0\x01\x78\x10\x07\x9b\1\2\3\4\x1b\x1b\0\0\0");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace os = memagent::os;
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  if (const auto table = os::ParseSearchHeader(0x400000, bytes)) {
    if (size < os::kSearchHeaderBytes || table->header != 0x400000) abort();
  }
  if (const auto encoding = os::ParsePointerEncoding(bytes)) {
    const auto width = os::EncodedPointerBytes(*encoding);
    if (width && (*width == 0 || *width > 8)) abort();
  }
  return 0;
}
