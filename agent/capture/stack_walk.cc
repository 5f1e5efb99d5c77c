#include "agent/capture/stack_walk.h"

#include "agent/capture/unwind_table.h"

namespace memagent::capture {
namespace {

// A step up by more than this through rbp is legal (stack switching, huge locals) but not trusted
// to repeat; a frame pointer chain without unwind information may not do it at all.
constexpr uintptr_t kMaxTrustedStep = uintptr_t{1} << 20;

// Offsets from sp in the sigreturn trampoline, where sp points to struct ucontext:
// uc_mcontext.gregs[REG_RBP], [REG_RSP], [REG_RIP] (kernel asm/sigcontext.h, glibc sys/ucontext.h).
constexpr uintptr_t kSavedRbp = 120;
constexpr uintptr_t kSavedRsp = 160;
constexpr uintptr_t kSavedRip = 168;

// No return address is at or above this.
constexpr uintptr_t kUserSpaceEnd = uintptr_t{1} << kAddressBits;

// Values of Walker::fp_source_ that are not an index into the trail.
constexpr int kFromStart = -1;
constexpr int kFromSignal = -2;

enum class Step : uint8_t { kNext, kEnd, kCut };

class Walker {
 public:
  Walker(const FrameStart& start, StackReader& reader, WalkTrail* trail)
      : frame_(start), reader_(reader), trail_(trail) {}

  WalkResult Run(const FrameSink& sink);

 private:
  Step Up(FrameStart& frame, UnwindRule rule);
  Step UpRare(UnwindRule rule);
  Step UpFrom(FrameStart& frame, uintptr_t cfa, UnwindRule rule);
  Step UpSignal();
  Step UpByFramePointer();
  Step Uncovered();
  bool UseFp();
  bool Deref(uintptr_t address, uintptr_t& cfa);
  bool LoadCallerFp(FrameStart& frame, uintptr_t cfa, UnwindRule rule);
  int Record(uintptr_t slot, uintptr_t value);
  void NotRepeatable() {
    if (trail_ != nullptr) trail_->repeatable = false;
  }

  FrameStart frame_;  // current only while a rare step is taken, see Run
  StackReader& reader_;
  WalkTrail* trail_;
  WalkResult result_;
  int fp_source_ = kFromStart;
  bool fp_known_ = true;
  bool interrupted_ = false;  // pc is not a return address
};

[[gnu::always_inline]] inline bool Walker::LoadCallerFp(FrameStart& frame, uintptr_t cfa,
                                                        UnwindRule rule) {
  if (rule.fp_mode() == FpMode::kSame) return true;
  if (rule.fp_mode() == FpMode::kLost) {
    fp_known_ = false;
    return true;
  }
  uintptr_t slot = cfa + static_cast<uintptr_t>(rule.fp_offset());
  if (rule.fp_mode() == FpMode::kAtFp) {
    if (!UseFp()) return false;
    slot = frame.fp + static_cast<uintptr_t>(rule.fp_offset());
  }
  uintptr_t saved = 0;
  if (!reader_.Load(slot, saved)) return false;
  fp_source_ = Record(slot | WalkTrail::kOptional, saved);
  fp_known_ = true;
  frame.fp = saved;
  return true;
}

[[gnu::always_inline]] inline Step Walker::UpFrom(FrameStart& frame, uintptr_t cfa,
                                                  UnwindRule rule) {
  uintptr_t caller = 0;
  if (!LoadCallerFp(frame, cfa, rule)) return Step::kCut;
  const uintptr_t slot = cfa - 8;
  if (!reader_.Load(slot, caller)) return Step::kCut;
  Record(slot, caller);
  frame.pc = caller;
  frame.sp = cfa;
  interrupted_ = false;
  if (caller - 1 < kUserSpaceEnd - 1) return Step::kNext;
  // Zero is where a coroutine's stack begins, unless a guessed frame led here.
  return caller == 0 && result_.uncovered == 0 ? Step::kEnd : Step::kCut;
}

// The frame is kept in registers: each step waits for the last one's load, and a detour through
// memory would add to every frame.
WalkResult Walker::Run(const FrameSink& sink) {
  uintptr_t* const pcs = sink.pcs;
  const size_t mask = sink.size - 1;
  FrameStart frame = frame_;
  size_t depth = 0;
  while (true) {
    pcs[depth++ & mask] = frame.pc + (interrupted_ ? 1 : 0);
    const Step step = Up(frame, LookUpRule(frame.pc - (interrupted_ ? 0 : 1)));
    if (step == Step::kNext && depth < sink.limit) continue;
    result_.depth = depth;
    result_.cut = step != Step::kEnd;
    return result_;
  }
}

[[gnu::always_inline]] inline Step Walker::Up(FrameStart& frame, UnwindRule rule) {
  if (rule.kind() == RuleKind::kSp) [[likely]] {
    return UpFrom(frame, frame.sp + static_cast<uintptr_t>(rule.cfa_offset()), rule);
  }
  if (rule.kind() == RuleKind::kFp) {
    if (!UseFp()) return Uncovered();
    const uintptr_t cfa = frame.fp + static_cast<uintptr_t>(rule.cfa_offset());
    if (cfa - frame.sp > kMaxTrustedStep) NotRepeatable();
    return UpFrom(frame, cfa, rule);
  }
  frame_ = frame;
  const Step step = UpRare(rule);
  frame = frame_;
  return step;
}

[[gnu::noinline]] Step Walker::UpRare(UnwindRule rule) {
  uintptr_t cfa = 0;
  const auto offset = static_cast<uintptr_t>(rule.cfa_offset());
  switch (rule.kind()) {
    case RuleKind::kEnd:
      return Step::kEnd;
    case RuleKind::kFpDeref:
      if (!UseFp() || !Deref(frame_.fp + offset, cfa)) return Uncovered();
      if (cfa - frame_.sp > kMaxTrustedStep) NotRepeatable();
      return UpFrom(frame_, cfa, rule);
    case RuleKind::kSpDeref:
      if (!Deref(frame_.sp + offset, cfa)) return Uncovered();
      return UpFrom(frame_, cfa, rule);
    case RuleKind::kPlt:
      return UpFrom(frame_, frame_.sp + ((frame_.pc & 15) >= offset / 8 ? 16 : 8), rule);
    case RuleKind::kSignal:
      return UpSignal();
    case RuleKind::kNoInfo:
      return UpByFramePointer();
    default:
      return Uncovered();
  }
}

// The kernel saved all registers; what ran before may be anywhere, also on another stack.
Step Walker::UpSignal() {
  NotRepeatable();
  const uintptr_t context = frame_.sp;
  if (!reader_.Load(context + kSavedRip, frame_.pc) ||
      !reader_.Load(context + kSavedRbp, frame_.fp) ||
      !reader_.Load(context + kSavedRsp, frame_.sp)) {
    return Step::kCut;
  }
  fp_source_ = kFromSignal;
  fp_known_ = true;
  interrupted_ = true;
  return frame_.pc < kUserSpaceEnd ? Step::kNext : Step::kCut;
}

// Code without unwind information: its rbp is believed when it points up the stack to a return
// address into code that has some. Such a frame is always counted: its caller may be missing.
Step Walker::UpByFramePointer() {
  if (IsFirstFrame(frame_.sp)) return Step::kEnd;
  ++result_.uncovered;
  uintptr_t caller = 0;
  uintptr_t saved = 0;
  const uintptr_t fp = frame_.fp;
  if (!UseFp() || fp < frame_.sp || fp - frame_.sp > kMaxTrustedStep) return Step::kCut;
  if (!Deref(fp, saved) || !Deref(fp + 8, caller)) {
    NotRepeatable();  // the page may be there next time
    return Step::kCut;
  }
  if (caller - 1 >= kUserSpaceEnd - 1) return Step::kCut;
  if (LookUpRule(caller - 1).kind() == RuleKind::kNoInfo) return Step::kCut;
  frame_ = {caller, fp + 16, saved};
  fp_source_ = kFromSignal;
  interrupted_ = false;
  return Step::kNext;
}

Step Walker::Uncovered() {
  ++result_.uncovered;
  return Step::kCut;
}

// False when rbp is not known here; otherwise the word it came from decides the result.
bool Walker::UseFp() {
  if (!fp_known_) return false;
  if (trail_ == nullptr) return true;
  if (fp_source_ == kFromStart) trail_->start_fp_used = true;
  if (fp_source_ >= 0) trail_->words[fp_source_].slot &= ~WalkTrail::kOptional;
  return true;
}

bool Walker::Deref(uintptr_t address, uintptr_t& cfa) {
  if (!reader_.Load(address, cfa)) return false;
  Record(address, cfa);
  return true;
}

inline int Walker::Record(uintptr_t slot, uintptr_t value) {
  if (trail_ == nullptr) return kFromSignal;
  trail_->words[trail_->count] = {slot, value};
  return static_cast<int>(trail_->count++);
}

}  // namespace

WalkResult WalkStack(const FrameStart& start, StackReader& reader, const FrameSink& sink,
                     WalkTrail* trail) {
  if (trail != nullptr) {
    trail->count = 0;
    trail->start_fp_used = false;
    trail->repeatable = true;
  }
  return Walker(start, reader, trail).Run(sink);
}

}  // namespace memagent::capture
