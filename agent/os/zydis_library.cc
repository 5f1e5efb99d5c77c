#include "agent/os/zydis_library.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

namespace memagent::os {
namespace {

constinit ZydisFunctions functions;
constinit std::atomic<const ZydisFunctions*> published{nullptr};

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// The structs of Zydis changed with each minor version: only 4.0 matches our headers.
bool VersionMatches(void* library) {
  decltype(&::ZydisGetVersion) get_version = nullptr;
  if (!Find(library, "ZydisGetVersion", get_version)) return false;
  constexpr uint64_t kMajorMinor = ~uint64_t{0xffffffff};
  return (get_version() & kMajorMinor) == (uint64_t{ZYDIS_VERSION} & kMajorMinor);
}

ZydisLoad Open() {
  void* library = dlopen("libZydis.so.4.0", RTLD_LOCAL | RTLD_NOW);
  if (library == nullptr) {
    return {false,
            "libZydis.so.4.0 cannot be loaded, so sampled instructions are not decoded; "
            "install the package libzydis4.0"};
  }
  if (!VersionMatches(library) || !Find(library, "ZydisDecoderInit", functions.decoder_init) ||
      !Find(library, "ZydisDecoderEnableMode", functions.enable_mode) ||
      !Find(library, "ZydisDecoderDecodeFull", functions.decode_full) ||
      !Find(library, "ZydisDecoderDecodeInstruction", functions.decode_instruction)) {
    return {false,
            "the libZydis.so.4.0 found is not version 4.0, so sampled instructions are not "
            "decoded; install the package libzydis4.0"};
  }
  published.store(&functions, std::memory_order_release);
  return {true, ""};
}

}  // namespace

ZydisLoad LoadZydis() {
  static constinit bool tried = false;
  static constinit ZydisLoad answer;
  if (!tried) answer = Open();
  tried = true;
  return answer;
}

const ZydisFunctions* Zydis() { return published.load(std::memory_order_acquire); }

}  // namespace memagent::os
