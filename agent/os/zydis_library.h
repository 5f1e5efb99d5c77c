// The x86 decoder library, loaded with dlopen because Debian ships no static one and the agent's
// NEEDED list is libc only. Zydis' headers are used for types; only its decoder is called, which
// uses no heap, no lock, no TLS and no libc, so that the drain thread may run it.
#ifndef MEMAGENT_AGENT_OS_ZYDIS_LIBRARY_H_
#define MEMAGENT_AGENT_OS_ZYDIS_LIBRARY_H_

#include <Zydis/Zydis.h>

namespace memagent::os {

// The functions the agent calls. Any thread may call them once LoadZydis has returned true.
struct ZydisFunctions {
  decltype(&::ZydisDecoderInit) decoder_init = nullptr;
  decltype(&::ZydisDecoderEnableMode) enable_mode = nullptr;
  decltype(&::ZydisDecoderDecodeFull) decode_full = nullptr;
  decltype(&::ZydisDecoderDecodeInstruction) decode_instruction = nullptr;
};

struct ZydisLoad {
  bool loaded = false;
  const char* reason = "";  // when not loaded: cause and remedy in one sentence
};

// Opens the library (RTLD_LOCAL, never closed) and finds the functions; later calls return the
// first one's answer. Calling thread: an ordinary one, at session start, outside any hook: dlopen
// allocates and takes the loader's lock. Never the drain thread.
ZydisLoad LoadZydis();

// nullptr until LoadZydis has succeeded. Calling thread: any.
const ZydisFunctions* Zydis();

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_ZYDIS_LIBRARY_H_
