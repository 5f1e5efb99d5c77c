#include "agent/capture/real_symbols.h"

#include "agent/ledger/thread_state.h"
#include "agent/os/code_objects.h"
#include "agent/os/loaded_symbols.h"

namespace memagent::capture {

constinit RealSymbols real{};
constinit HeapAhead heap_ahead{};
constinit std::atomic<bool> real_ready{false};

void* FindNext(const char* name) {
  return os::FindLoadedSymbol(name, os::SearchFrom::kBehindAgent).address;
}

namespace {

constinit std::atomic<int> resolver{0};  // 0 nobody, 1 under way, 2 done
constinit bool new_bypasses_malloc = false;
constinit const char* malloc_ahead = nullptr;
constinit bool sanitizer_loaded = false;
constinit bool mapping_is_wrapped = false;

// In the order of RealSymbols' fields; all in one walk over the loaded objects.
constinit os::LoadedSymbol wanted[] = {
#define MEMAGENT_NAME(name, ...) os::LoadedSymbol{#name},
    MEMAGENT_REAL_SYMBOLS(MEMAGENT_NAME)
#undef MEMAGENT_NAME
#define MEMAGENT_NAME(name, symbol, ...) os::LoadedSymbol{symbol},
        MEMAGENT_REAL_OPERATORS(MEMAGENT_NAME)
#undef MEMAGENT_NAME
};

template <typename Function>
const os::LoadedSymbol* Keep(Function& function, const os::LoadedSymbol* symbol) {
  function = reinterpret_cast<Function>(symbol->address);
  return symbol + 1;
}

// An allocator in front of us, of which each function may be missing.
void FindHeapAhead() {
  os::LoadedSymbol symbols[] = {{"malloc"}, {"realloc"}, {"aligned_alloc"},
                                {"free"},   {"calloc"},  {"memalign"}};
  os::FindLoadedSymbols(symbols, os::SearchFrom::kProgram);
  for (os::LoadedSymbol& symbol : symbols) {
    if (symbol.in_agent) symbol.address = nullptr;
    if (symbol.address == nullptr || malloc_ahead != nullptr) continue;
    malloc_ahead = symbol.object_path[0] != '\0' ? symbol.object_path : "its own executable";
  }
  const os::LoadedSymbol* next = symbols;
  next = Keep(heap_ahead.malloc, next);
  next = Keep(heap_ahead.realloc, next);
  next = Keep(heap_ahead.aligned_alloc, next);
  Keep(heap_ahead.free, next);
}

bool FindSanitizer() {
  os::LoadedSymbol symbols[] = {
      {"__asan_init"}, {"__hwasan_init"}, {"__msan_init"}, {"__tsan_init"}};
  os::FindLoadedSymbols(symbols, os::SearchFrom::kProgram);
  bool found = false;
  for (const os::LoadedSymbol& symbol : symbols) found = found || symbol.address != nullptr;
  return found;
}

const void* ProviderOf(void* function) {
  for (const os::LoadedSymbol& symbol : wanted) {
    if (symbol.address == function && function != nullptr) return symbol.object;
  }
  return nullptr;
}

void FindAll() {
  os::FindLoadedSymbols(wanted, os::SearchFrom::kBehindAgent);
  const os::LoadedSymbol* next = wanted;
#define MEMAGENT_KEEP(name, ...) next = Keep(real.name, next);
  MEMAGENT_REAL_SYMBOLS(MEMAGENT_KEEP)
  MEMAGENT_REAL_OPERATORS(MEMAGENT_KEEP)
#undef MEMAGENT_KEEP
  new_bypasses_malloc = ProviderOf(reinterpret_cast<void*>(real.malloc)) ==
                        ProviderOf(reinterpret_cast<void*>(real.new_one));
  mapping_is_wrapped = ProviderOf(reinterpret_cast<void*>(real.mmap)) !=
                       ProviderOf(reinterpret_cast<void*>(real.syscall));
  FindHeapAhead();
  sanitizer_loaded = FindSanitizer();
}

}  // namespace

void ResolveRealSymbols() {
  int expected = 0;
  if (!resolver.compare_exchange_strong(expected, 1)) return;
  ++ledger::thread_state.depth;
  os::PrepareCodeObjects();
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
