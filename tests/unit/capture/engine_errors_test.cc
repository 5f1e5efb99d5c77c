#include "agent/capture/engine_errors.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace memagent::capture {
namespace {

ErrorContext Of(EngineKind engine, int paranoid = 2) {
  ErrorContext context;
  context.engine = engine;
  context.perf_event_paranoid = paranoid;
  context.kernel = {6, 12};
  return context;
}

ErrorContext OldIbs() {
  ErrorContext context = Of(EngineKind::kIbs);
  context.kernel = {6, 1};
  return context;
}

ErrorContext WholeCpu(int paranoid) {
  ErrorContext context = Of(EngineKind::kIbs, paranoid);
  context.scope = EventScope::kCpu;
  context.asks_kernel = true;
  return context;
}

ErrorContext Kernel() {
  ErrorContext context = Of(EngineKind::kIbs);
  context.asks_kernel = context.asks_physical = true;
  return context;
}

ErrorContext Physical(EngineKind engine) {
  ErrorContext context = Of(engine);
  context.asks_physical = true;
  return context;
}

ErrorContext AuxGroup() {
  ErrorContext context = Of(EngineKind::kPebs);
  context.has_leader = true;
  return context;
}

// A row of the facts' tables: what happened, and a word that the explanation must have.
struct Case {
  const char* fact;
  EngineStep step;
  int error;
  ErrorContext context;
  const char* word;
};

constexpr EngineStep kOpen = EngineStep::kOpen;

std::vector<Case> GeneralCases() {
  const ErrorContext software = Of(EngineKind::kSoftware);
  return {
      {"1.8, 8.4 distribution's patch", kOpen, EACCES, Of(EngineKind::kSoftware, 3), "above 2"},
      {"1.8 LSM", kOpen, EACCES, software, "security module"},
      {"1.8 kernel without the right", kOpen, EACCES, Kernel(), "sample the kernel"},
      {"1.8 PHYS_ADDR without the right", kOpen, EACCES, Physical(EngineKind::kPebs), "Physical"},
      {"1.8 a CPU's event", kOpen, EACCES, WholeCpu(1), "whole CPUs"},
      {"1.8 period, frequency, no sampling", kOpen, EINVAL, software, "rate"},
      {"1.8 exited thread", kOpen, ESRCH, software, "ended"},
      {"1.8 no PMU", kOpen, ENOENT, software, "no such event"},
      {"1.8 can't sample", kOpen, EOPNOTSUPP, software, "can't sample"},
      {"1.8 record too long", kOpen, E2BIG, software, "too long"},
      {"1.8 hardware in use", kOpen, EBUSY, software, "holds"},
      {"1.8 descriptors", kOpen, EMFILE, software, "process has no descriptor"},
      {"descriptors of the system", kOpen, ENFILE, software, "system has no descriptor"},
      {"1.8, 8.2 seccomp of Docker", kOpen, EPERM, software, "seccomp"},
      {"1.8, 8.2 seccomp of Podman", kOpen, ENOSYS, software, "Podman"},
      {"5.3 breakpoints", kOpen, ENOSPC, software, "breakpoint"},
      {"memory", kOpen, ENOMEM, software, "memory for the event."},
      {"1.6 mlock", EngineStep::kMap, EPERM, software, "locked-memory"},
      {"1.6 size", EngineStep::kMap, EINVAL, software, "power of two"},
      {"1.6 redirected", EngineStep::kMap, EBUSY, software, "another ring"},
      {"memory", EngineStep::kMap, ENOMEM, software, "memory for the event's ring"},
      {"LSM", EngineStep::kMap, EACCES, software, "mapping the event's ring"},
      {"1.7 rules", EngineStep::kRedirect, EINVAL, software, "share a ring"},
      {"1.7 descriptor", EngineStep::kRedirect, EBADF, software, "closed"},
  };
}

std::vector<Case> HardwareCases() {
  const ErrorContext ibs = Of(EngineKind::kIbs);
  const ErrorContext pebs = Of(EngineKind::kPebs);
  const ErrorContext spe = Of(EngineKind::kSpe);
  return {
      {"2.2 per-task before 6.2", kOpen, EINVAL, OldIbs(), "before Linux 6.2"},
      {"2.2 exclude, period, ldlat", kOpen, EINVAL, ibs, "latency out of range"},
      {"2.3 another number", kOpen, ENOENT, ibs, "ibs_op"},
      {"3.2 precise_ip", kOpen, EOPNOTSUPP, pebs, "precisely"},
      {"3.2 aux", kOpen, ENODATA, pebs, "mem-loads-aux"},
      {"3.2 group", kOpen, EINVAL, AuxGroup(), "group"},
      {"3.2 period, config1", kOpen, EINVAL, pebs, "PEBS event"},
      {"3.2 extra register", kOpen, ENXIO, pebs, "register"},
      {"3.2 reserved", kOpen, EBUSY, pebs, "reserved"},
      {"3.2 no PMU", kOpen, ENOENT, pebs, "hypervisors hide"},
      {"3.2 no PMU", kOpen, ENODEV, pebs, "not available"},
      {"4.2 type or CPU", kOpen, ENOENT, spe, "SPE PMU"},
      {"4.2 filters", kOpen, EOPNOTSUPP, spe, "lacks a filter"},
      {"4.2 freq", kOpen, EINVAL, spe, "frequency"},
      {"4.2 pa_enable", kOpen, EACCES, Physical(EngineKind::kSpe), "pa_enable"},
      {"4.2 exclusive", kOpen, EBUSY, spe, "exclusive"},
      {"4.3 AUX mlock", EngineStep::kMapAux, EPERM, spe, "AUX areas"},
      {"4.3 AUX size", EngineStep::kMapAux, EINVAL, spe, "size or place"},
      {"4.3 AUX memory", EngineStep::kMapAux, ENOMEM, spe, "memory for the AUX"},
      {"4.3 AUX twice", EngineStep::kMapAux, EBUSY, spe, "another event"},
      {"4.3 no AUX", EngineStep::kMapAux, EOPNOTSUPP, spe, "no AUX"},
      {"LSM", EngineStep::kMapAux, EACCES, spe, "mapping the AUX"},
      {"ioctl filter", EngineStep::kControl, EPERM, ibs, "forbids ioctl"},
      {"ioctl LSM", EngineStep::kControl, EACCES, pebs, "forbids ioctl"},
      {"ioctl sandbox", EngineStep::kControl, ENOTTY, spe, "takes no ioctl"},
  };
}

TEST(EngineErrors, EveryRowOfTheFactsHasItsOwnExplanation) {
  std::vector<Case> cases = GeneralCases();
  for (const Case& hardware : HardwareCases()) cases.push_back(hardware);
  std::map<std::string, std::string> seen;
  for (const Case& one : cases) {
    const EngineError text = ExplainEngineError(one.step, one.error, one.context);
    EXPECT_EQ(text.name, strerrorname_np(one.error)) << one.fact;
    EXPECT_NE(text.meaning.find(one.word), std::string::npos) << one.fact << ": " << text.meaning;
    ASSERT_FALSE(text.meaning.empty() || text.remedy.empty()) << one.fact;
    EXPECT_EQ(text.meaning.back(), '.') << one.fact;
    const auto [other, is_new] = seen.try_emplace(std::string(text.meaning), one.fact);
    EXPECT_TRUE(is_new) << one.fact << " is explained as " << other->second;
  }
}

TEST(EngineErrors, SilenceHasNoErrnoAndACauseForEachEngine) {
  std::map<std::string, int> meanings;
  for (const EngineKind engine : {EngineKind::kIbs, EngineKind::kPebs, EngineKind::kSpe}) {
    ErrorContext context;
    context.engine = engine;
    const EngineError never_ran = ExplainEngineError(EngineStep::kRun, 0, context);
    EXPECT_NE(never_ran.meaning.find("never"), std::string::npos);
    EXPECT_FALSE(never_ran.remedy.empty());
    ++meanings[std::string(never_ran.meaning)];
    const EngineError deaf = ExplainEngineError(EngineStep::kSample, 0, context);
    EXPECT_NE(deaf.meaning.find("no sample"), std::string::npos);
  }
  EXPECT_EQ(meanings.size(), 3u);
}

TEST(EngineErrors, ParanoidAboveTwoComesBeforeEveryOtherReason) {
  for (const int paranoid : {3, 4}) {
    ErrorContext context = Kernel();
    context.perf_event_paranoid = paranoid;
    const EngineError text = ExplainEngineError(kOpen, EACCES, context);
    EXPECT_NE(text.meaning.find("above 2"), std::string::npos);
    EXPECT_NE(text.remedy.find("CAP_PERFMON is not enough"), std::string::npos);
  }
  EXPECT_EQ(ExplainEngineError(kOpen, EACCES, 2).meaning.find("above 2"), std::string::npos);
}

TEST(EngineErrors, ContainersAreToldTheirSwitch) {
  EXPECT_NE(ExplainEngineError(kOpen, EPERM, 2).remedy.find("--cap-add PERFMON"),
            std::string::npos);
}

TEST(EngineErrors, UnknownErrnoSaysSo) {
  for (const EngineStep step : {kOpen, EngineStep::kMap, EngineStep::kMapAux, EngineStep::kRedirect,
                                EngineStep::kControl, EngineStep::kRun, EngineStep::kSample}) {
    EXPECT_EQ(ExplainEngineError(step, 4000, 2).name, "unknown errno");
  }
}

TEST(ErrorContext, FollowsTheAttempt) {
  EngineFacts facts;
  facts.kernel.version = {6, 1};
  facts.kernel.perf_event_paranoid = 1;
  EventAttempt attempt;
  attempt.scope = EventScope::kCpu;
  attempt.has_leader = true;
  attempt.attr.sample_type = PERF_SAMPLE_PHYS_ADDR;
  const ErrorContext context = ContextOf(facts, EngineKind::kIbs, attempt);
  EXPECT_EQ(context.kernel, (os::KernelVersion{6, 1}));
  EXPECT_EQ(context.perf_event_paranoid, 1);
  EXPECT_EQ(context.scope, EventScope::kCpu);
  EXPECT_TRUE(context.asks_kernel && context.asks_physical && context.has_leader);
  attempt.attr.exclude_kernel = 1;
  attempt.attr.config = 2;
  attempt.attr.sample_type = 0;
  EXPECT_FALSE(ContextOf(facts, EngineKind::kPebs, attempt).asks_physical);
  EXPECT_TRUE(ContextOf(facts, EngineKind::kSpe, attempt).asks_physical);
  EXPECT_FALSE(ContextOf(facts, EngineKind::kSpe, attempt).asks_kernel);
}

}  // namespace
}  // namespace memagent::capture
