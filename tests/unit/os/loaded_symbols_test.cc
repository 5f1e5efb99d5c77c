// The own look-up finds what the loader's finds.
#include "agent/os/loaded_symbols.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>

namespace memagent::os {
namespace {

TEST(LoadedSymbols, AgreesWithDlsym) {
  for (const char* name : {"calloc", "qsort", "pthread_create", "posix_spawn", "dlopen", "_Znwm",
                           "dl_iterate_phdr", "_dl_find_object"}) {
    const LoadedSymbol found = FindLoadedSymbol(name, SearchFrom::kProgram);
    EXPECT_EQ(found.address, dlsym(RTLD_DEFAULT, name)) << name;
  }
}

// memcpy is chosen by the processor's abilities and has two versions, the default one since 2.14.
TEST(LoadedSymbols, IndirectFunctionIsResolved) {
  EXPECT_EQ(FindLoadedSymbol("strchr", SearchFrom::kProgram).address,
            dlsym(RTLD_DEFAULT, "strchr"));
  EXPECT_EQ(FindLoadedSymbol("memcpy", SearchFrom::kProgram).address,
            dlsym(RTLD_DEFAULT, "memcpy"));
}

TEST(LoadedSymbols, MissingNameHasNoAddressAndLeavesNoError) {
  dlerror();
  LoadedSymbol symbols[] = {{"no_such_function_anywhere"}, {"qsort"}};
  FindLoadedSymbols(symbols, SearchFrom::kProgram);
  EXPECT_EQ(symbols[0].address, nullptr);
  EXPECT_NE(symbols[1].address, nullptr);
  EXPECT_EQ(dlerror(), nullptr);
}

TEST(LoadedSymbols, VariableIsNoFunction) {
  EXPECT_EQ(FindLoadedSymbol("stdout", SearchFrom::kProgram).address, nullptr);
}

TEST(LoadedSymbols, ObjectAndPathAreTheDefiningOnes) {
  LoadedSymbol symbols[] = {{"malloc"}, {"a64l"}, {"l64a"}};
  FindLoadedSymbols(symbols, SearchFrom::kBehindAgent);  // the test is the agent: libraries only
  EXPECT_EQ(symbols[1].object, symbols[2].object);
  EXPECT_NE(strstr(symbols[1].object_path, "libc.so"), nullptr) << symbols[1].object_path;
  EXPECT_FALSE(symbols[1].in_agent);
}

TEST(LoadedSymbols, SymbolFoundBeforeIsKept) {
  LoadedSymbol symbol = {"qsort"};
  symbol.address = &symbol;
  FindLoadedSymbols({&symbol, 1}, SearchFrom::kProgram);
  EXPECT_EQ(symbol.address, &symbol);
}

}  // namespace
}  // namespace memagent::os
