// The mmap family: memory that comes without malloc. What libc maps for itself (arenas, thread
// stacks, the loader) never passes here; the drain thread finds it in /proc/self/maps (pitfalls
// P65).
#include <errno.h>
#include <stdarg.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "agent/base/syscall.h"
#include "agent/capture/hooks.h"
#include "agent/capture/mapping_calls.h"
#include "agent/capture/placement.h"
#include "agent/os/tsc.h"

namespace memagent::capture {
namespace {

using Kind = ledger::RegionEvent::Kind;

// These hooks run inside allocators, also while those initialise: none of them resolves everything.
template <typename Function>
bool Known(Function& function, const char* name) {
  return EarlySymbol(function, name) != nullptr;
}

// Size of a System V segment; 0 when the kernel won't say, or must not be asked (a sandbox).
size_t SegmentSize(int id) {
  if (!Recording()) return 0;
  shmid_ds segment = {};
  return base::Syscall(SYS_shmctl, id, IPC_STAT, &segment) == 0 ? segment.shm_segsz : 0;
}

void RecordBreak(void* old_break, intptr_t growth, const FrameStart& caller) {
  if (growth > 0) {
    RecordMap(Kind::kBreak, RegionKind::kBrk, old_break, static_cast<size_t>(growth), os::ReadTsc(),
              caller);
  } else if (growth < 0) {
    RecordUnmap(Kind::kUnmap, static_cast<char*>(old_break) + growth, static_cast<size_t>(-growth),
                os::ReadTsc());
  }
}

void* Map(void* start, size_t size, int protection, int flags, int fd, off_t offset,
          const FrameStart& caller) {
  if (!real_ready.load(std::memory_order_acquire)) {
    const long result = base::Syscall(SYS_mmap, start, size, protection, flags, fd, offset);
    if (result >= 0 || result <= -4096) return reinterpret_cast<void*>(result);
    errno = static_cast<int>(-result);
    return MAP_FAILED;
  }
  void* result = real.mmap(start, size, protection, flags, fd, offset);
  RecordMapped(result, size, flags, caller);
  return result;
}

}  // namespace

void RecordMapped(void* result, size_t size, int flags, const FrameStart& caller) {
  if (result == MAP_FAILED) return;
  const bool anonymous = (flags & MAP_ANONYMOUS) != 0;
  RecordMap(Kind::kMap, anonymous ? RegionKind::kMmap : RegionKind::kFile, result, size,
            os::ReadTsc(), caller);
}

void FollowAdvice(bool given, void* start, size_t size, int advice) {
  const bool is_ours = advice == MADV_HUGEPAGE || advice == MADV_NOHUGEPAGE;
  if (!given || !is_ours || !IsPlacing()) return;
  Overrule(OwnPlacement::kHugePages, reinterpret_cast<uint64_t>(start), size);
}

void RecordUnmapped(bool done, void* start, size_t size, uint64_t before) {
  if (done) RecordUnmap(Kind::kUnmap, start, size, before);
}

void RecordRemapped(void* old_start, size_t old_size, void* result, size_t size, int flags,
                    uint64_t before, const FrameStart& caller) {
  if (result == MAP_FAILED) return;
  const bool old_stays = (flags & MREMAP_DONTUNMAP) != 0;
  RecordRemap(old_start, old_stays ? 0 : old_size, result, size, before, caller);
}

}  // namespace memagent::capture

using namespace memagent::capture;  // NOLINT: the hooks below are C functions
using memagent::RegionKind;
namespace base = memagent::base;
namespace os = memagent::os;

MEMAGENT_HOOK void* mmap(void* start, size_t size, int protection, int flags, int fd,
                         off_t offset) {
  return Map(start, size, protection, flags, fd, offset, MEMAGENT_CALLER());
}

MEMAGENT_HOOK void* mmap64(void* start, size_t size, int protection, int flags, int fd,
                           off_t offset) {
  return Map(start, size, protection, flags, fd, offset, MEMAGENT_CALLER());
}

MEMAGENT_HOOK int munmap(void* start, size_t size) {
  if (!real_ready.load(std::memory_order_acquire)) {
    const long error = base::Syscall(SYS_munmap, start, size);
    if (error == 0) return 0;
    errno = static_cast<int>(-error);
    return -1;
  }
  const uint64_t before = os::ReadTsc();
  const int result = real.munmap(start, size);
  RecordUnmapped(result == 0, start, size, before);
  return result;
}

MEMAGENT_HOOK void* mremap(void* old_start, size_t old_size, size_t size, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  void* wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(arguments, void*) : nullptr;
  va_end(arguments);
  if (!Known(real.mremap, "mremap")) return MAP_FAILED;
  const uint64_t before = os::ReadTsc();
  void* result = real.mremap(old_start, old_size, size, flags, wanted);
  RecordRemapped(old_start, old_size, result, size, flags, before, MEMAGENT_CALLER());
  return result;
}

MEMAGENT_HOOK int brk(void* end) {
  if (!Known(real.brk, "brk") || !Known(real.sbrk, "sbrk")) return -1;
  void* old_break = real.sbrk(0);
  const int result = real.brk(end);
  if (result == 0) {
    RecordBreak(old_break, static_cast<char*>(end) - static_cast<char*>(old_break),
                MEMAGENT_CALLER());
  }
  return result;
}

MEMAGENT_HOOK void* sbrk(intptr_t growth) {
  if (!Known(real.sbrk, "sbrk")) return reinterpret_cast<void*>(-1);
  void* result = real.sbrk(growth);
  if (result != reinterpret_cast<void*>(-1)) RecordBreak(result, growth, MEMAGENT_CALLER());
  return result;
}

MEMAGENT_HOOK void* shmat(int id, const void* wanted, int flags) {
  if (!Known(real.shmat, "shmat")) return reinterpret_cast<void*>(-1);
  void* result = real.shmat(id, wanted, flags);
  if (result != reinterpret_cast<void*>(-1)) {
    RecordMap(Kind::kAttach, RegionKind::kShm, result, SegmentSize(id), os::ReadTsc(),
              MEMAGENT_CALLER());
  }
  return result;
}

MEMAGENT_HOOK int shmdt(const void* start) {
  if (!Known(real.shmdt, "shmdt")) return -1;
  const uint64_t before = os::ReadTsc();
  const int result = real.shmdt(start);
  if (result == 0) RecordUnmap(Kind::kDetach, const_cast<void*>(start), 0, before);
  return result;
}

MEMAGENT_HOOK int madvise(void* start, size_t size, int advice) {
  if (!Known(real.madvise, "madvise")) return -1;
  const int result = real.madvise(start, size, advice);
  FollowAdvice(result == 0, start, size, advice);
  return result;
}
