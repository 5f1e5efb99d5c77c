// static_tls' library: 64 bytes that must lie in the static block of every thread.
#include <cstring>

namespace {
[[gnu::tls_model("initial-exec")]] thread_local char block[64];
}

extern "C" [[gnu::visibility("default")]] void UseStaticTls() {
  char* start = block;
  asm volatile("" : "+r"(start));
  memset(start, 1, sizeof(block));
}
