// The resolver against the truth: a child runs ordinary library code one instruction at a time, and
// after each step the resolver must say what the step did, from the registers after it alone. What
// it calls exact must always be right.
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "agent/decode/access_resolver.h"
#include "agent/decode/x86_semantics.h"

namespace memagent::decode {
namespace {

constexpr int kMaxInstructions = 25'000;

// Sorting, trees, strings, formatting and numbers: branches, calls, string instructions, SSE.
[[gnu::noinline]] int OrdinaryWork() {
  std::map<std::string, int> words;
  std::vector<int> numbers;
  for (int i = 0; i < 300; ++i) {
    char text[32];
    std::snprintf(text, sizeof(text), "%d-%x", i * 7919 % 301, i);
    words[text] += i;
    numbers.push_back(std::atoi(text) ^ i);
  }
  std::sort(numbers.begin(), numbers.end());
  std::qsort(numbers.data(), numbers.size(), sizeof(int), [](const void* a, const void* b) {
    return *static_cast<const int*>(b) - *static_cast<const int*>(a);
  });
  return numbers.front() + static_cast<int>(words.size());
}

Registers ToSampleRegisters(const user_regs_struct& r) {
  return {r.rax, r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp, r.rsp, r.rip, r.eflags,
          r.cs,  r.ss,  r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
}

// A child of ours, stopped before each instruction of OrdinaryWork.
class SteppedChild {
 public:
  SteppedChild() : pid_(fork()) {
    if (pid_ == 0) RunChild();
    int status = 0;
    waitpid(pid_, &status, 0);
    stopped_ = WIFSTOPPED(status);
  }
  ~SteppedChild() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  bool stopped() const { return stopped_; }
  user_regs_struct registers() const {
    user_regs_struct result = {};
    ptrace(PTRACE_GETREGS, pid_, nullptr, &result);
    return result;
  }
  // False when the child is gone.
  bool Step() {
    int status = 0;
    if (ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) != 0) return false;
    return waitpid(pid_, &status, 0) == pid_ && WIFSTOPPED(status);
  }

 private:
  [[noreturn]] static void RunChild() {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    raise(SIGSTOP);
    _exit(OrdinaryWork() == 0 ? 2 : 0);
  }
  pid_t pid_;
  bool stopped_ = false;
};

// The address that the instruction accessed, from the registers before it.
Value TrueAddress(const Instruction& i, const user_regs_struct& before) {
  const auto gprs = GprsOf(ToSampleRegisters(before));
  if (i.flow == Flow::kReturn) return before.rsp;
  if (i.address.after) {
    const uint64_t rsp = i.stack_delta != 0
                             ? before.rsp + static_cast<uint64_t>(int64_t{i.stack_delta})
                             : before.rbp + 8;  // leave
    return rsp + static_cast<uint64_t>(i.address.displacement);
  }
  const auto at = [&](Gpr gpr) { return gpr == kNoGpr ? Value() : Value(gprs[gpr]); };
  return ComputeAddress(i.address, at(i.address.base), at(i.address.index), before.fs_base);
}

struct Tally {
  int steps = 0;
  int by_evidence[kEvidenceCount] = {};
  int unknown = 0;
  int exact_wrong = 0;
  int none_wrong = 0;
  int lowered = 0;
  int lowered_right = 0;
  int next_instance = 0;
};

class SingleStep : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(os::LoadZydis().loaded) << os::LoadZydis().reason; }

  std::optional<Instruction> InstructionAt(uint64_t pc) {
    std::array<std::byte, kMaxInstructionBytes> bytes;
    return decoder_->Decode(pc, std::span(bytes).first(code_.Read(pc, bytes)));
  }

  // A step that resolution speaks of: not a kernel entry, nor into an unfinished string operation.
  bool IsComparable(const Instruction& done, const user_regs_struct& after) {
    const auto next = InstructionAt(after.rip);
    const bool repeating = next && next->is_repeated && after.rcx != 0;
    return done.flow != Flow::kSystemCall && !repeating;
  }

  // The compare that the resolver may name in place of the conditional jump after it.
  std::optional<Instruction> FusedInstruction(const Instruction& done, uint64_t claimed_pc) {
    if (done.flow != Flow::kBranch) return std::nullopt;
    const auto claimed = InstructionAt(claimed_pc);
    const bool fused = claimed && claimed->is_compare && claimed->end() == done.pc;
    return fused ? claimed : std::nullopt;
  }

  void Judge(Instruction done, const user_regs_struct& before, const user_regs_struct& after) {
    RawSample sample;
    sample.ip = after.rip;
    sample.has_registers = true;
    sample.registers = ToSampleRegisters(after);
    const auto result = resolver_->Resolve(sample, after.fs_base);
    if (const auto fused = FusedInstruction(done, result.access.ip)) done = *fused;
    ++tally_.steps;
    ++tally_.by_evidence[static_cast<size_t>(result.access.evidence)];
    const bool pc_right = result.access.ip == done.pc || done.flow == Flow::kReturn;
    const bool right = pc_right && result.access.address == TrueAddress(done, before);
    switch (result.access.evidence) {
      case Evidence::kNone:
        if (done.accesses_memory) Report(++tally_.none_wrong, "none", done, result);
        break;
      case Evidence::kExact:
        if (!right) Report(++tally_.exact_wrong, "exact", done, result);
        break;
      case Evidence::kApproximate:
        ++(result.why == Unresolved::kNone ? tally_.next_instance : tally_.lowered);
        if (result.why != Unresolved::kNone && right) ++tally_.lowered_right;
        break;
      case Evidence::kPcOnly:
        if (result.why != Unresolved::kNone) ++tally_.unknown;
        break;
    }
  }

  static void Report(int count, const char* claim, const Instruction& done,
                     const AccessResolver::Result& result) {
    if (count > 10) return;
    std::printf("claimed %s at %#llx, address %#llx; ran %#llx\n", claim,
                static_cast<unsigned long long>(result.access.ip),
                static_cast<unsigned long long>(result.access.address),
                static_cast<unsigned long long>(done.pc));
  }

  ProcessCode code_;
  std::optional<X86Decoder> decoder_;
  std::optional<AccessResolver> resolver_;
  Tally tally_;
};

TEST_F(SingleStep, WhatIsCalledExactIsWhatTheProcessorDid) {
  SteppedChild child;
  if (!child.stopped()) GTEST_SKIP() << "ptrace of a child was refused";
  decoder_.emplace();
  resolver_.emplace(code_);
  user_regs_struct before = child.registers();
  for (int i = 0; i < kMaxInstructions && child.Step(); ++i) {
    const user_regs_struct after = child.registers();
    const auto done = InstructionAt(before.rip);
    if (done && IsComparable(*done, after)) Judge(*done, before, after);
    before = after;
  }
  std::printf(
      "%d steps: none %d, exact %d, approximate %d (%d of %d joins right, %d next "
      "instance), pc-only %d (%d unknown); wrong: exact %d, none %d\n",
      tally_.steps, tally_.by_evidence[0], tally_.by_evidence[1], tally_.by_evidence[2],
      tally_.lowered_right, tally_.lowered, tally_.next_instance, tally_.by_evidence[3],
      tally_.unknown, tally_.exact_wrong, tally_.none_wrong);
  EXPECT_GT(tally_.steps, kMaxInstructions / 2);
  EXPECT_EQ(tally_.exact_wrong, 0);
  EXPECT_EQ(tally_.none_wrong, 0);
}

}  // namespace
}  // namespace memagent::decode
