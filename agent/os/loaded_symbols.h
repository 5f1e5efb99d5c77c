// Symbols of the loaded objects, found without the loader's look-up functions.
//
// dlsym and dladdr are not used because they: moved from libdl to libc with glibc 2.34, and what
// was built on a newer system then kills every program of an older one (pitfalls P07); allocate the
// text of a failure, inside the program's first malloc (P01); leave that text for the program's
// dlerror; and wait for the loader's lock, which dlopen holds while constructors run (P04).
// dl_iterate_phdr allocates nothing and waits only while an object is put on the list.
//
// The order is that of loading, which at a program's start is the order of the global scope. Of
// several versions of a symbol the default one counts. Calling thread: any host thread, not the
// drain thread.
#ifndef MEMAGENT_AGENT_OS_LOADED_SYMBOLS_H_
#define MEMAGENT_AGENT_OS_LOADED_SYMBOLS_H_

#include <span>

namespace memagent::os {

struct LoadedSymbol {
  const char* name;
  void* address = nullptr;       // of the function; nullptr when no object defines it
  const void* object = nullptr;  // identifies the object that does
  const char* object_path = "";  // the loader's memory; "" for the program itself
  bool in_agent = false;         // the agent's own object defines it
};

enum class SearchFrom { kProgram, kBehindAgent };

// Fills in the first definition of each symbol whose address is still nullptr.
void FindLoadedSymbols(std::span<LoadedSymbol> symbols, SearchFrom from);

LoadedSymbol FindLoadedSymbol(const char* name, SearchFrom from);

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_LOADED_SYMBOLS_H_
