#include "agent/os/zydis_library.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

#include "agent/os/loaded_symbols.h"

namespace memagent::os {
namespace {

constinit ZydisFunctions functions;
constinit std::atomic<const ZydisFunctions*> published{nullptr};

// The loader's functions, found by name: a reference to dlopen keeps the agent from loading on a
// glibc before 2.34, where it was in libdl. In a program without libdl, that glibc's libc has its
// own way in.
struct Loader {
  void* (*open)(const char*, int) = nullptr;
  void* (*symbol)(void*, const char*) = nullptr;
  int flags = RTLD_LOCAL | RTLD_NOW;
};
constinit Loader loader;

constexpr int kInternalOpen = static_cast<int>(0x80000000);  // glibc's __RTLD_DLOPEN

// Where the program's dlerror would find it, a failure of ours must not stay; a success clears it.
void* OpenQuietly(const char* name) {
  void* library = loader.open(name, loader.flags);
  if (library == nullptr && (loader.flags & kInternalOpen) == 0) loader.open(nullptr, RTLD_LAZY);
  return library;
}

bool FindLoader() {
  LoadedSymbol found[] = {{"dlopen"}, {"dlsym"}, {"__libc_dlopen_mode"}, {"__libc_dlsym"}};
  FindLoadedSymbols(found, SearchFrom::kBehindAgent);
  const bool has_public = found[0].address != nullptr && found[1].address != nullptr;
  if (!has_public) loader.flags |= kInternalOpen;
  const LoadedSymbol* pair = has_public ? found : found + 2;
  loader.open = reinterpret_cast<decltype(loader.open)>(pair[0].address);
  loader.symbol = reinterpret_cast<decltype(loader.symbol)>(pair[1].address);
  return loader.open != nullptr && loader.symbol != nullptr;
}

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(loader.symbol(library, name));
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
  void* library = FindLoader() ? OpenQuietly("libZydis.so.4.0") : nullptr;
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
