#include "agent/capture/real_symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "agent/ledger/thread_state.h"

namespace memagent::capture {

constinit RealSymbols real{};
constinit HeapAhead heap_ahead{};
constinit std::atomic<bool> real_ready{false};

void* FindNext(const char* name) { return dlsym(RTLD_NEXT, name); }

namespace {

constinit std::atomic<int> resolver{0};  // 0 nobody, 1 under way, 2 done
constinit bool new_bypasses_malloc = false;
constinit const char* malloc_ahead = nullptr;
constinit bool sanitizer_loaded = false;
constinit bool mapping_is_wrapped = false;

const void* ObjectOf(void* function) {
  Dl_info info;
  return function != nullptr && dladdr(function, &info) != 0 ? info.dli_fbase : nullptr;
}

// Path of the object that calls of `name` reach when that is not ours. A program that is not
// position-independent and takes the function's address holds a jump to it that stands for that
// address (Debian's python3 does so with malloc and free): an undefined symbol with a value, which
// says nothing about where calls go.
const char* ProviderAhead(const char* name) {
  Dl_info info;
  void* entry = nullptr;
  if (dladdr1(dlsym(RTLD_DEFAULT, name), &info, &entry, RTLD_DL_SYMENT) == 0) return nullptr;
  const auto* symbol = static_cast<const ElfW(Sym)*>(entry);
  if (symbol != nullptr && symbol->st_shndx == SHN_UNDEF) return nullptr;
  if (info.dli_fbase == ObjectOf(reinterpret_cast<void*>(ProviderAhead))) return nullptr;
  return info.dli_fname != nullptr ? info.dli_fname : "";
}

const char* FindMallocAhead() {
  for (const char* name : {"malloc", "calloc", "realloc", "memalign"}) {
    if (const char* ahead = ProviderAhead(name)) return ahead;
  }
  return nullptr;
}

template <typename Function>
void Find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(FindNext(name));
}

template <typename Function>
void FindAhead(Function& function, const char* name) {
  if (ProviderAhead(name) == nullptr) return;
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

void FindHeapAhead() {
  FindAhead(heap_ahead.malloc, "malloc");
  FindAhead(heap_ahead.realloc, "realloc");
  FindAhead(heap_ahead.aligned_alloc, "aligned_alloc");
  FindAhead(heap_ahead.free, "free");
}

// A failed dlsym leaves its text for dlerror, where the host must not find it. The look-up that
// ends this one succeeds and clears it. dlerror itself must not be called: it translates the text,
// which takes the locale's lock, and libp11-kit holds that lock when it makes the first allocation
// of curl.
void FindAll() {
#define MEMAGENT_FIND(name, ...) Find(real.name, #name);
  MEMAGENT_REAL_SYMBOLS(MEMAGENT_FIND)
#undef MEMAGENT_FIND
#define MEMAGENT_FIND(name, symbol, ...) Find(real.name, symbol);
  MEMAGENT_REAL_OPERATORS(MEMAGENT_FIND)
#undef MEMAGENT_FIND
  void* provider = reinterpret_cast<void*>(real.malloc);
  new_bypasses_malloc = ObjectOf(provider) == ObjectOf(reinterpret_cast<void*>(real.new_one));
  mapping_is_wrapped = ObjectOf(reinterpret_cast<void*>(real.mmap)) !=
                       ObjectOf(reinterpret_cast<void*>(real.syscall));
  malloc_ahead = FindMallocAhead();
  FindHeapAhead();
  for (const char* init : {"__asan_init", "__hwasan_init", "__msan_init", "__tsan_init"}) {
    sanitizer_loaded = sanitizer_loaded || dlsym(RTLD_DEFAULT, init) != nullptr;
  }
  FindNext("malloc");
}

}  // namespace

void ResolveRealSymbols() {
  int expected = 0;
  if (!resolver.compare_exchange_strong(expected, 1)) return;
  ++ledger::thread_state.depth;
  FindAll();
  --ledger::thread_state.depth;
  resolver.store(2);
  real_ready.store(true, std::memory_order_release);
}

bool NewBypassesMalloc() { return new_bypasses_malloc; }

bool MappingIsWrapped() { return mapping_is_wrapped; }

bool SanitizerLoaded() { return sanitizer_loaded; }

const char* MallocAheadOfUs() { return malloc_ahead; }

}  // namespace memagent::capture
