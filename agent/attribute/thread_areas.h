// Which thread's stack or thread-local storage an address is in.
//
//   mapping start                    initial sp          thread pointer
//        |  guard   <- stack grows down <- |  frames of libc, static TLS | thread descriptor |
//
// glibc puts a thread's descriptor and static TLS at the top of its stack, so both are found from
// the thread pointer. Pure. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_ATTRIBUTE_THREAD_AREAS_H_
#define MEMAGENT_AGENT_ATTRIBUTE_THREAD_AREAS_H_

#include <cstdint>

#include "agent/base/containers.h"
#include "agent/base/types.h"

namespace memagent::attribute {

struct ThreadArea {
  uint32_t thread = 0;      // serial of the thread record
  uint64_t stack_low = 0;   // start of the mapping that holds the stack; initial_sp: not known yet
  uint64_t initial_sp = 0;  // an address near the stack's start
  uint64_t thread_pointer = 0;
};

struct AreaAnswer {
  RegionKind kind = RegionKind::kUnknown;  // kStack or kTls
  uint32_t thread = 0;
};

class ThreadAreas {
 public:
  // struct pthread is 2304 bytes in glibc 2.36 (x86-64); other releases are within 2.2 to 2.5 KiB.
  static constexpr uint64_t kDescriptorBytes = 2304;
  // start_thread's frame and our own start function's lie between the first stack address that we
  // know and the static TLS.
  static constexpr uint64_t kStartFrames = 512;
  // Static TLS of the main thread lies in a mapping of its own below its thread pointer.
  static constexpr uint64_t kMainTlsBytes = 4096;

  void Add(const ThreadArea& area) { areas_.push_back(area); }
  void Remove(uint32_t thread);
  // Sets stack_low of each area: `start_of(initial_sp)` is the start of the mapping that is that
  // thread's stack, initial_sp itself when that is not known.
  template <typename StartOf>
  void LearnStacks(StartOf start_of) {
    for (ThreadArea& area : areas_) area.stack_low = start_of(area.initial_sp);
  }
  AreaAnswer Find(uint64_t address) const;

 private:
  base::Vector<ThreadArea> areas_;
};

}  // namespace memagent::attribute

#endif  // MEMAGENT_AGENT_ATTRIBUTE_THREAD_AREAS_H_
