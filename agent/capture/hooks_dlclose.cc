// dlclose: what is remembered of code addresses must not outlive the library, nor be forgotten with
// it (pitfalls P80). dlopen is not hooked: the loader looks at its caller's RUNPATH (pitfalls P62).
#include "agent/capture/hooks.h"
#include "agent/capture/process_events.h"

namespace memagent::capture {
namespace {

void AnnounceCodeChange() {
  if (const ProcessEvents* events = Events()) events->code_changing();
}

}  // namespace
}  // namespace memagent::capture

using namespace memagent::capture;  // NOLINT: the hook below is a C function

MEMAGENT_HOOK int dlclose(void* handle) {
  if (!RealReady() || real.dlclose == nullptr) return -1;
  AnnounceCodeChange();
  FlushStackCaches();
  const int result = real.dlclose(handle);
  FlushStackCaches();
  CountUnload();
  AnnounceCodeChange();
  FlushStackCaches();  // what was captured before the frames were retired
  return result;
}
