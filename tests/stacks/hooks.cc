// LD_PRELOAD=libstack_oracles.so: every allocation's stack, as the agent captures it, is compared
// with what others say (comparison.h), and counted in the file that STACK_ORACLES_COUNTS names.
#include <cstdlib>

#include "agent/capture/real_symbols.h"
#include "tests/stacks/comparison.h"
#include "tests/stacks/counts.h"

namespace memagent::stacks {
namespace {

using capture::real;
using capture::RealReady;

[[gnu::constructor]] void Start() {
  const char* path = getenv("STACK_ORACLES_COUNTS");
  if (path != nullptr && OpenCounts(path)) StartComparing();
}

}  // namespace
}  // namespace memagent::stacks

using namespace memagent::stacks;  // NOLINT: the hooks below are C functions

#define EXPORTED extern "C" [[gnu::visibility("default")]]

// Nothing allocates while the real functions are looked up, so a hook that can't go on is none.
EXPORTED void* malloc(size_t size) {
  if (!RealReady()) return nullptr;
  void* block = real.malloc(size);
  Compare(MEMAGENT_CALLER());
  return block;
}

EXPORTED void* calloc(size_t count, size_t size) {
  if (!RealReady()) return nullptr;
  void* block = real.calloc(count, size);
  Compare(MEMAGENT_CALLER());
  return block;
}

EXPORTED void* realloc(void* block, size_t size) {
  if (!RealReady()) return nullptr;
  void* moved = real.realloc(block, size);
  Compare(MEMAGENT_CALLER());
  return moved;
}

EXPORTED int posix_memalign(void** block, size_t alignment, size_t size) {
  if (!RealReady()) return 12;  // ENOMEM
  const int error = real.posix_memalign(block, alignment, size);
  Compare(MEMAGENT_CALLER());
  return error;
}

EXPORTED void* aligned_alloc(size_t alignment, size_t size) {
  if (!RealReady()) return nullptr;
  void* block = real.aligned_alloc(alignment, size);
  Compare(MEMAGENT_CALLER());
  return block;
}

EXPORTED int dlclose(void* handle) {
  if (!RealReady()) return -1;
  ForgetCode();
  const int result = real.dlclose(handle);
  ForgetCode();
  return result;
}
