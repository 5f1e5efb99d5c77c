#include "agent/attribute/thread_areas.h"

namespace memagent::attribute {
namespace {

// The thread's descriptor and TLS are at the top of the very mapping that holds its stack.
bool TlsOnStack(const ThreadArea& area) {
  return area.thread_pointer > area.initial_sp &&
         area.thread_pointer - area.initial_sp < (uint64_t{1} << 20);
}

RegionKind KindIn(const ThreadArea& area, uint64_t address) {
  const uint64_t tls_end = area.thread_pointer + ThreadAreas::kDescriptorBytes;
  const uint64_t tls_start = TlsOnStack(area) ? area.initial_sp + ThreadAreas::kStartFrames
                                              : area.thread_pointer - ThreadAreas::kMainTlsBytes;
  if (address >= tls_start && address < tls_end) return RegionKind::kTls;
  const uint64_t stack_end = area.initial_sp + ThreadAreas::kStartFrames;
  if (address >= area.stack_low && address < stack_end) return RegionKind::kStack;
  return RegionKind::kUnknown;
}

}  // namespace

void ThreadAreas::Remove(uint32_t thread) {
  std::erase_if(areas_, [thread](const ThreadArea& area) { return area.thread == thread; });
}

AreaAnswer ThreadAreas::Find(uint64_t address) const {
  for (const ThreadArea& area : areas_) {
    const RegionKind kind = KindIn(area, address);
    if (kind != RegionKind::kUnknown) return {kind, area.thread};
  }
  return {};
}

}  // namespace memagent::attribute
