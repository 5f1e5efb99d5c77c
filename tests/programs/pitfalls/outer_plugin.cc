// Row P62: loads another plug-in by name alone, through its own RUNPATH ($ORIGIN/private).
#include <dlfcn.h>

extern "C" int open_hidden(int) {
  void* hidden = dlopen("hidden_plugin.so", RTLD_NOW);
  if (hidden == nullptr) return -1;
  const auto answer = reinterpret_cast<int (*)()>(dlsym(hidden, "hidden_answer"));
  const int value = answer != nullptr ? answer() : -2;
  dlclose(hidden);
  return value;
}
