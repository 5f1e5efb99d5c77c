#include "agent/capture/placement_recorder.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "agent/base/syscall.h"
#include "agent/capture/drain_wake.h"
#include "agent/capture/recorder.h"
#include "agent/capture/stack_cache.h"
#include "agent/ledger/placement_calls.h"
#include "agent/ledger/thread_state.h"
#include "agent/os/machine.h"
#include "agent/os/tsc.h"

#ifndef SYS_set_mempolicy_home_node
#define SYS_set_mempolicy_home_node 450  // asm-generic/unistd.h, from Linux 5.17 on
#endif

namespace memagent::capture {
namespace {

using base::BitMask;
using ledger::PlacementCall;
using ledger::PlacementKind;

constinit std::atomic<size_t> cpu_mask_bytes{0};  // 0: not known yet

// The first `bits` of a mask that the kernel has read as words.
BitMask ReadMask(long address, uint64_t bits) {
  BitMask mask;
  if (address == 0) return mask;
  bits = std::min<uint64_t>(bits, BitMask::kBits);
  memcpy(mask.words.data(), reinterpret_cast<const void*>(address), (bits + 63) / 64 * 8);
  if (bits % 64 != 0) mask.words[bits / 64] &= (uint64_t{1} << bits % 64) - 1;
  return mask;
}

// mm/mempolicy.c, get_nodes: one bit less than it is told.
BitMask ReadNodes(long address, unsigned long max_node) {
  return ReadMask(address, max_node == 0 ? 0 : max_node - 1);
}

size_t CpuMaskBytes() {
  if (cpu_mask_bytes.load(std::memory_order_relaxed) == 0) SetCpuMaskBytes(os::CpuMaskBytes());
  return cpu_mask_bytes.load(std::memory_order_relaxed);
}

BitMask ReadCpus(const void* mask, size_t bytes) {
  BitMask cpus;
  const size_t read = std::min({bytes, CpuMaskBytes(), sizeof(cpus.words)});
  memcpy(cpus.words.data(), mask, read);
  return cpus;
}

// Of an array of node numbers that the kernel has read.
BitMask NodesAmong(long address, uint64_t count) {
  BitMask nodes;
  const int* const numbers = reinterpret_cast<const int*>(address);
  for (uint64_t i = 0; i < std::min<uint64_t>(count, BitMask::kBits); ++i) {
    if (numbers[i] >= 0) nodes.Set(static_cast<size_t>(numbers[i]));
  }
  return nodes;
}

// A positive result is how many pages were left: then the kernel has not read all nodes.
void FillMovePages(PlacementCall& call, const long (&a)[6], long result) {
  const auto count = static_cast<uint64_t>(a[1]);
  call.target = static_cast<uint64_t>(a[0]);
  call.size_bytes = count * os::PageBytes();
  if (call.error != 0 || count == 0) return;
  call.address = *reinterpret_cast<const uint64_t*>(a[2]);
  call.mask = NodesAmong(a[3], result == 0 ? count : 1);
}

void FillAffinity(PlacementCall& call, uint64_t target, size_t bytes, const void* mask) {
  call.mask_is_cpus = true;
  call.target = target;
  if (call.error == 0) call.mask = ReadCpus(mask, bytes);
}

void FillPolicy(PlacementCall& call, long mode, long nodes, long max_node) {
  call.mode_and_flags = static_cast<uint32_t>(mode);
  if (call.error == 0) call.mask = ReadNodes(nodes, static_cast<unsigned long>(max_node));
}

// By `call.kind`.
void Fill(PlacementCall& call, const long (&a)[6], long result) {
  if (ledger::IsOfMapping(call.kind)) {
    call.address = static_cast<uint64_t>(a[0]);
    call.size_bytes = static_cast<uint64_t>(a[1]);
  }
  switch (call.kind) {
    case PlacementKind::kMbind:
      return FillPolicy(call, a[2], a[3], a[4]);
    case PlacementKind::kSetMempolicy:
      return FillPolicy(call, a[0], a[1], a[2]);
    case PlacementKind::kSetMempolicyHomeNode:
      if (call.error == 0) call.mask.Set(static_cast<size_t>(a[2]));
      return;
    case PlacementKind::kMovePages:
      return FillMovePages(call, a, result);
    case PlacementKind::kMigratePages:
      call.target = static_cast<uint64_t>(a[0]);
      if (call.error == 0) call.mask = ReadNodes(a[3], static_cast<unsigned long>(a[1]));
      return;
    case PlacementKind::kSchedSetaffinity:
    case PlacementKind::kPthreadSetaffinity:
      return FillAffinity(call, static_cast<uint64_t>(a[0]), static_cast<size_t>(a[1]),
                          reinterpret_cast<const void*>(a[2]));
  }
}

// A vfork child shares the parent's memory, and the record of its thread: what it calls is another
// process's business.
bool IsOwnThread(const ledger::ThreadRecord& record) {
  return base::Syscall(SYS_gettid) == record.tid;
}

template <typename FillCall>
void Record(PlacementKind kind, int error, const FrameStart& caller, FillCall fill) {
  if (!Recording()) return;
  ledger::HookGuard guard;
  if (!guard.entered()) return ledger::LosePlacementCall(kind, error);
  ledger::ThreadRecord* thread = CurrentThread();
  if (thread == nullptr) return ledger::LosePlacementCall(kind, error);
  if (!IsOwnThread(*thread)) return;
  PlacementCall call;
  call.kind = kind;
  call.tsc = os::ReadTsc();
  call.error = error;
  call.thread = thread->tid;
  fill(call);
  call.stack = CaptureStack(caller, static_cast<StackCache*>(thread->stack_cache));
  ledger::PushPlacementCall(call);
  if (ledger::WaitingPlacementCalls() >= ledger::kPlacementSlots / 2) WakeDrain();
}

PlacementKind KindOf(long number) {
  switch (number) {
    case SYS_mbind:
      return PlacementKind::kMbind;
    case SYS_set_mempolicy:
      return PlacementKind::kSetMempolicy;
    case SYS_set_mempolicy_home_node:
      return PlacementKind::kSetMempolicyHomeNode;
    case SYS_move_pages:
      return PlacementKind::kMovePages;
    case SYS_migrate_pages:
      return PlacementKind::kMigratePages;
    default:
      return PlacementKind::kSchedSetaffinity;
  }
}

}  // namespace

bool IsPlacementCall(long number) {
  switch (number) {
    case SYS_mbind:
    case SYS_set_mempolicy:
    case SYS_set_mempolicy_home_node:
    case SYS_move_pages:
    case SYS_migrate_pages:
    case SYS_sched_setaffinity:
      return true;
    default:
      return false;
  }
}

void RecordPlacementCall(long number, const long (&arguments)[6], long result, int error,
                         const FrameStart& caller) {
  if (number == SYS_move_pages && arguments[3] == 0) return;  // only asks where pages are
  Record(KindOf(number), result < 0 ? error : 0, caller,
         [&](PlacementCall& call) { Fill(call, arguments, result); });
}

void RecordAffinity(int32_t tid, size_t bytes, const void* mask, int error,
                    const FrameStart& caller) {
  Record(PlacementKind::kSchedSetaffinity, error, caller,
         [&](PlacementCall& call) { FillAffinity(call, static_cast<uint64_t>(tid), bytes, mask); });
}

void RecordPthreadAffinity(uint64_t thread, size_t bytes, const void* mask, int error,
                           const FrameStart& caller) {
  Record(PlacementKind::kPthreadSetaffinity, error, caller, [&](PlacementCall& call) {
    call.target_is_handle = true;
    FillAffinity(call, thread, bytes, mask);
  });
}

void SetCpuMaskBytes(size_t bytes) { cpu_mask_bytes.store(bytes, std::memory_order_relaxed); }

}  // namespace memagent::capture
