// Untrusted text on its way to a terminal: harmless afterwards, and never wider than it may be.
// Input: one byte of width, then text.
#include <cstdlib>
#include <string>

#include "tests/support/fuzz_seeds.h"
#include "viewer/terminal.h"
#include "viewer/text.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const char* text : {"\x0a\x1b[2Jx\n\xc2\x9b\xff\x07y",
                           "\x05"
                           "a\xe2\x80\xae"
                           "b\xcc\x81",
                           "\x03\xe6\xbc\xa2\xe5\xad\x97", "\x50/a/long/path with spaces/in it",
                           "\x02\xf0\x9f\x98\x80\xed\xa0\x80"}) {
    memagent::testing::AddSeed(seeds, text);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace viewer = memagent::viewer;
  if (size == 0) return 0;
  const size_t width = data[0];
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  for (const viewer::Charset charset : {viewer::Charset::kAscii, viewer::Charset::kUtf8}) {
    const std::string safe = viewer::Printable(text, charset);
    if (viewer::Printable(safe, charset) != safe) abort();
    for (const char c : safe) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) abort();
      if (charset == viewer::Charset::kAscii && static_cast<unsigned char>(c) > 0x7e) abort();
    }
    if (viewer::DisplayWidth(viewer::Truncate(safe, width, charset)) > width) abort();
    if (viewer::DisplayWidth(viewer::TruncateFront(safe, width, charset)) > width) abort();
    if (viewer::DisplayWidth(viewer::PadLeft(safe, width)) < width) abort();
    viewer::Wrap(safe, width + 1, width / 2);
  }
  return 0;
}
