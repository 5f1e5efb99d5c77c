#include "tests/stacks/comparison.h"

#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <span>

#include "agent/base/arena.h"
#include "agent/capture/unwind_table.h"
#include "tests/stacks/counts.h"

namespace memagent::stacks {
namespace {

using capture::FrameStart;
using capture::kMaxStackDepth;
using capture::RuleKind;
using Frames = std::span<const uintptr_t>;  // return addresses, innermost first

// Above the limit of a capture by the frames of this library and some more.
constexpr size_t kOracleFrames = kMaxStackDepth + 32;

#define MEMAGENT_TEXT_OF(name) #name
#define MEMAGENT_TEXT(name) MEMAGENT_TEXT_OF(name)
// libunwind's functions are macros for longer names.
#define MEMAGENT_UNWIND_FUNCTION(field, function) \
  decltype(&function) field =                     \
      reinterpret_cast<decltype(&function)>(dlsym(library, MEMAGENT_TEXT(function)))

// Loaded as a local library: linked, it would put its own _Unwind_* before libgcc's for every
// exception of the program.
struct Libunwind {
  void* library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  MEMAGENT_UNWIND_FUNCTION(get_context, unw_tdep_getcontext);
  MEMAGENT_UNWIND_FUNCTION(initialise, unw_init_local);
  MEMAGENT_UNWIND_FUNCTION(step, unw_step);
  MEMAGENT_UNWIND_FUNCTION(get_register, unw_get_reg);
  MEMAGENT_UNWIND_FUNCTION(flush, unw_flush_cache);
  unw_addr_space_t* space =
      static_cast<unw_addr_space_t*>(dlsym(library, MEMAGENT_TEXT(unw_local_addr_space)));
};
const Libunwind* libunwind = nullptr;

// glibc's own: libunwind has a weak one as well.
int (*glibc_backtrace)(void**, int) = nullptr;
// libgcc's search for unwind tables, which backtrace() uses.
const void* (*find_tables)(void* pc, void* bases) = nullptr;

template <typename Function>
void Find(Function& function, const char* library, int flags, const char* name) {
  void* handle = dlopen(library, RTLD_NOW | flags);
  if (handle != nullptr) function = reinterpret_cast<Function>(dlsym(handle, name));
}

// Of one thread; not on the host's stack, which may be small.
struct Scratch {
  capture::StackCache* cache;
  unsigned turn;
  uintptr_t captured[kMaxStackDepth + 1];
  uintptr_t oracle[kOracleFrames];
  unw_context_t context;
  unw_cursor_t cursor;
};
constinit thread_local bool busy = false;
constinit thread_local Scratch* scratch = nullptr;

Scratch* ScratchOfThread() {
  if (scratch != nullptr) return scratch;
  auto* fresh = static_cast<Scratch*>(base::ArenaAllocate(sizeof(Scratch), 64));
  if (fresh == nullptr) return nullptr;
  fresh->cache = capture::CreateStackCache();
  return scratch = fresh;
}

// Cuts what is below the frame that returns to `first`: our own frames.
Frames From(Frames frames, uintptr_t first) {
  return frames.subspan(
      static_cast<size_t>(std::find(frames.begin(), frames.end(), first) - frames.begin()));
}

Frames BacktraceFrom(Scratch& own, uintptr_t first) {
  const int count =
      glibc_backtrace(reinterpret_cast<void**>(own.oracle), static_cast<int>(kOracleFrames));
  return From({own.oracle, static_cast<size_t>(count)}, first);
}

bool HasTables(uintptr_t return_address) {
  void* bases[3];
  return find_tables(reinterpret_cast<void*>(return_address - 1), bases) != nullptr;
}

// Ends, as backtrace() does, at code without tables: libunwind goes on by guessing there, and reads
// what it guesses without asking whether it is readable (it crashed a JVM).
Frames LibunwindFrom(Scratch& own, uintptr_t first) {
  libunwind->get_context(&own.context);
  libunwind->initialise(&own.cursor, &own.context);
  size_t count = 0;
  while (count < kOracleFrames) {
    unw_word_t ip = 0;
    libunwind->get_register(&own.cursor, UNW_REG_IP, &ip);
    if (ip == 0) break;
    own.oracle[count++] = ip;
    if (!HasTables(ip) || libunwind->step(&own.cursor) <= 0) break;
  }
  return From({own.oracle, count}, first);
}

Frames FramesOf(Scratch& own, StackId stack) {
  size_t count = 0;
  capture::StackNode node;
  for (; capture::ReadStackNode(stack, node); stack = node.parent) {
    if (count == std::size(own.captured)) break;
    own.captured[count++] = node.pc;
  }
  return {own.captured, count};
}

RuleKind RuleBefore(uintptr_t return_address) {
  return capture::LookUpRule(return_address - 1).kind();
}

// A capture writes the address that a signal interrupted plus one (stack_walk.h); oracles don't.
bool SameFrame(Frames captured, Frames oracle, size_t i) {
  if (captured[i] == oracle[i]) return true;
  return i > 0 && captured[i] == oracle[i] + 1 && RuleBefore(captured[i - 1]) == RuleKind::kSignal;
}

size_t CommonFrames(Frames captured, Frames oracle) {
  size_t i = 0;
  while (i < captured.size() && i < oracle.size() && SameFrame(captured, oracle, i)) ++i;
  return i;
}

// `common` frames are equal, at least one.
Outcome Judge(Frames captured, Frames oracle, size_t common, bool cut) {
  const bool all_captured = common == captured.size();
  const bool all_of_oracle = common == oracle.size();
  if (all_captured && all_of_oracle) return cut ? Outcome::kEqualToNoTables : Outcome::kEqual;
  if (all_captured && cut && common == kMaxStackDepth) return Outcome::kEqualToLimit;
  if (capture::StackTrieFullCount() > 0) return Outcome::kTrieFull;
  if (!HasTables(captured[common - 1])) return Outcome::kBeyondTables;
  if (all_captured) return cut ? Outcome::kCaptureCut : Outcome::kCaptureEndsEarlier;
  return all_of_oracle ? Outcome::kOracleEndsEarlier : Outcome::kDifferentCaller;
}

void CountAgainst(Oracle name, Frames captured, Frames oracle, bool cut) {
  const size_t common = CommonFrames(captured, oracle);
  if (common == 0) return Count(name, Outcome::kOracleFailed, 0);
  const Outcome outcome = Judge(captured, oracle, common, cut);
  const bool equal = outcome == Outcome::kEqual || outcome == Outcome::kEqualToLimit;
  Count(name, outcome, equal ? 0 : captured[common - 1]);
}

void CompareOne(const FrameStart& start, Scratch& own) {
  const StackId stack = capture::CaptureStack(start, own.cache);
  const bool cut = capture::StackWasCut(stack);
  const Frames captured = FramesOf(own, stack);
  ++own.turn;
  CountAgainst(Oracle::kBacktrace, captured, BacktraceFrom(own, start.pc), cut);
  if (own.turn % kLibunwindEvery == 0) {
    CountAgainst(Oracle::kLibunwind, captured, LibunwindFrom(own, start.pc), cut);
  }
  if (own.turn % kNoCacheEvery == 0) {
    const bool equal = capture::CaptureStack(start, nullptr) == stack;
    Count(Oracle::kNoCache, equal ? Outcome::kEqual : Outcome::kDifferentCaller,
          equal ? 0 : start.pc);
  }
}

}  // namespace

bool StartComparing() {
  busy = true;  // loading allocates
  static const Libunwind loaded;
  Find(glibc_backtrace, "libc.so.6", RTLD_NOLOAD, "backtrace");
  Find(find_tables, "libgcc_s.so.1", RTLD_LOCAL, "_Unwind_Find_FDE");
  const bool ready = glibc_backtrace != nullptr && find_tables != nullptr && loaded.step != nullptr;
  if (ready) {
    void* unused[2];
    glibc_backtrace(unused, 2);  // prepares itself now, not inside a malloc
    libunwind = &loaded;
  }
  busy = false;
  return ready;
}

void Compare(const FrameStart& start) {
  if (libunwind == nullptr || busy) return;
  busy = true;
  const int host_errno = errno;
  if (Scratch* own = ScratchOfThread()) CompareOne(start, *own);
  errno = host_errno;
  busy = false;
}

void ForgetCode() {
  capture::FlushStackCaches();
  if (libunwind != nullptr) libunwind->flush(*libunwind->space, 0, 0);
}

}  // namespace memagent::stacks
