// dlclose: what is remembered of code addresses must not outlive the library. dlopen is not hooked:
// the loader looks at its caller's RUNPATH (pitfalls P62).
#include "agent/capture/hooks.h"

using namespace memagent::capture;  // NOLINT: the hook below is a C function

MEMAGENT_HOOK int dlclose(void* handle) {
  if (!RealReady() || real.dlclose == nullptr) return -1;
  FlushStackCaches();
  const int result = real.dlclose(handle);
  FlushStackCaches();
  CountUnload();
  return result;
}
