#include "agent/runtime/drain_loop.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>

#include "agent/base/syscall.h"
#include "agent/capture/child_program.h"
#include "agent/capture/placement.h"
#include "agent/capture/real_symbols.h"
#include "agent/capture/recorder.h"
#include "agent/capture/thread_start.h"
#include "agent/ledger/shadow_map.h"
#include "agent/os/file.h"
#include "agent/os/perf_event.h"
#include "agent/os/proc_maps.h"
#include "agent/os/sandbox_probe.h"
#include "agent/os/tsc.h"
#include "agent/os/zydis_library.h"
#include "agent/runtime/linked_allocator.h"
#include "agent/runtime/raw_thread.h"

namespace memagent::runtime {
namespace {

// A sample's time is taken before it can be read: one older than this at the start of a tick has
// been seen. Interrupt handlers take microseconds; what a descheduled virtual CPU publishes later
// is counted as late.
constexpr Nanos kSettleNanos = 3'000'000;
// While rings fill fast (page faults at period 1 fill 16 pages in 3.5 ms) they are emptied often.
constexpr uint64_t kBusySleepNanos = 1'000'000;
// A program killed in its first seconds has a profile too: checkpoints after 0.1 s and 1 s, then as
// checkpoint= says.
constexpr Nanos kFirstCheckpointNanos = 100'000'000;
constexpr Nanos kSecondCheckpointNanos = 1'000'000'000;
// Calibration burns 20 ms of the drain thread's time: not in programs that end at once.
constexpr Nanos kCalibrateAfterNanos = 200'000'000;
// Reading the maps takes a millisecond for some thousand mappings.
constexpr Nanos kCountNanos = 50'000'000;
constexpr int64_t kUsualMostMappings = 65530;  // DEFAULT_MAX_MAP_COUNT, include/linux/mm.h
constexpr uint64_t kNameTicks = 32;
constexpr uint64_t kAloneTicks = 8;
constexpr uint64_t kUnseenTicks = 4;  // a new thread has 4 ms or more to register itself

}  // namespace

DrainLoop::DrainLoop(SessionControl& control)
    : control_(control),
      options_(control.settings->options),
      started_(os::MonotonicNanos()),
      started_unix_(os::UnixNanos()),
      attributor_(modules_),
      aggregator_(options_.raw_samples),
      observation_(options_, attributor_, aggregator_, clock_, log_, control.pid, started_),
      waiter_(observation_),
      pipeline_(attributor_, aggregator_, clock_),
      placement_(attributor_, aggregator_, observation_, clock_, control.pid),
      own_cost_(control, clock_, pipeline_),
      economy_(*control.settings, observation_, aggregator_, log_),
      stacks_(modules_, control.pid),
      checkpoint_({aggregator_, attributor_, observation_, placement_, stacks_, log_, own_cost_}) {}

void DrainLoop::Start(EarlyFacts early) {
  // A child of fork has its parent's filters, and what the parent learnt of them.
  if (!control_.forked && os::PerfEventsKill()) os::ForbidPerfEvents();
  clock_.AddPair(os::TakeClockPair());  // the first tick takes the second: the host need not wait
  early_ = std::move(early);
  selection_ = Select(early_, options_);
  observation_.SetSelection(&selection_, early_);
  Publish(os::ReadTsc());
  ledger::SetHistoryWanted(true);
  ledger::StartSampleWatch();
  reserve_.Take();
  capture::OpenWaitBudget();
  observation_.AdoptAllThreads();
  waiter_.Begin();
  next_checkpoint_ = started_ + kFirstCheckpointNanos;
  last_tick_ = started_;
}

void DrainLoop::StartWithoutEvents() {
  clock_.Calibrate();
  early_ = capture::ReadEngineFacts();
  log_.Add(
      profile::Severity::kWarning, "no_drain_thread",
      control_.settings->under_valgrind
          ? "Valgrind runs no thread of memagent's kind, so only allocations were recorded."
          : "The kernel refused memagent a thread, so only allocations were recorded; raise the "
            "limit on processes (ulimit -u, pids.max).");
}

void DrainLoop::Publish(uint64_t settled_tsc) { ledger::SetSettled(ledger::FromTsc(settled_tsc)); }

void DrainLoop::NoteStartProblems() {
  for (size_t i = 0; i < control_.settings->problem_count; ++i) {
    log_.Add(profile::Severity::kWarning, "option_ignored", control_.settings->problems[i].text);
  }
  const capture::EnginePlan* plan = observation_.engine().plan;
  if (plan != nullptr && plan->engine == EngineKind::kSoftware && os::Zydis() == nullptr) {
    log_.Add(profile::Severity::kWarning, "no_decoder",
             "libZydis.so.4.0 could not be loaded, so no sample has a data address; install the "
             "package libzydis4.0.");
  }
  if (const char* ahead = capture::MallocAheadOfUs()) {
    base::String text("The program calls the malloc of ");
    text.append(ahead).append(
        ", so its heap blocks are not seen; put libmemagent.so before it in LD_PRELOAD, or build "
        "the "
        "program without its own malloc.");
    log_.Add(profile::Severity::kWarning, "foreign_malloc", text);
  }
  NoteLinkedAllocator(log_);
  if (plan != nullptr && !plan->rate_change.empty()) {
    log_.Add(profile::Severity::kWarning, "rate_changed", plan->rate_change);
  }
}

int DrainLoop::Run() {
  std::optional<int> status;
  LearnLateFacts();  // while the host runs: in a program that ends at once it would wait for them
  while (true) {
    waiter_.Wait(sleep_nanos_);
    Tick();
    ServeEndRequests();
    ServeCredentialRequests();
    ServeCodeChanges();
    if (control_.pause_requested.load(std::memory_order_acquire)) {
      CreateProfile();
      break;
    }
    if (tick_ % kAloneTicks == 0 && (status = StatusWhenAlone())) {
      Finish("threads_ended");
      break;
    }
    Housekeep();
  }
  waiter_.End();
  // The descriptor table goes with the thread: nothing may keep a number of it.
  observation_.CloseAll();
  checkpoint_.CloseFile();
  reserve_.Release();
  control_.loop_is_idle.store(true, std::memory_order_release);
  return status.value_or(0);
}

// The task folder has two links more than the process has threads; a main thread that has ended
// stays as a zombie until the others have. The last field of stat is its wait status (proc(5)). A
// process ends with its last thread's status: of libc's threads that is 0.
std::optional<int> DrainLoop::StatusWhenAlone() {
  struct stat facts = {};
  const auto text = os::ReadFileHead("/proc/self/stat", 2048);
  const size_t name_end = text ? text->rfind(')') : base::String::npos;
  if (name_end == base::String::npos || !text->substr(name_end).starts_with(") Z")) {
    return std::nullopt;
  }
  if (base::Syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &facts, 0) != 0)
    return std::nullopt;
  if (facts.st_nlink > 4) {
    outlived_main_ = true;
    return std::nullopt;
  }
  if (outlived_main_) return 0;
  const std::string_view line = os::Trim(*text);
  const auto status = os::ParseUnsigned(line.substr(line.rfind(' ') + 1));
  return static_cast<int>(status.value_or(0) >> 8 & 0xff);
}

void DrainLoop::Resume() {
  control_.loop_is_idle.store(false, std::memory_order_release);
  checkpoint_.OpenFile();
  observation_.AdoptAllThreads();
  waiter_.Begin();
  last_tick_ = os::MonotonicNanos();
}

void DrainLoop::TakeRegionEvents() {
  region_events_.clear();
  ledger::ForEachThread([this](ledger::ThreadRecord* record) {
    record->regions.PopAll(
        [this](const ledger::RegionEvent& event) { region_events_.push_back(event); });
  });
  std::sort(region_events_.begin(), region_events_.end(),
            [](const auto& a, const auto& b) { return a.tsc < b.tsc; });
  for (const ledger::RegionEvent& event : region_events_) {
    attributor_.regions().Apply(event);
    if (event.kind == ledger::RegionEvent::Kind::kUnmap) {
      aggregator_.ForgetPages(event.start, event.size);
    }
  }
}

void DrainLoop::TellTimes() {
  for (PendingSample& pending : batch_) {
    if (std::exchange(pending.in_ticks, false)) pending.raw.time = clock_.ToNanos(pending.raw.time);
  }
}

void DrainLoop::Tick(bool last) {
  const Nanos now = os::MonotonicNanos();
  const uint64_t tsc = os::ReadTsc();
  waiter_.NoteTick();
  observation_.AdoptNewThreads();
  observation_.FindEndedThreads();
  observation_.JitterPeriods(now, last);
  bool busy = observation_.ReadRings(batch_, now - last_tick_);
  last_tick_ = now;
  clock_.Calibrate();
  TakeRegionEvents();
  busy |= observation_.EnrolNewThreads();  // their rings are small
  attributor_.blocks().GatherHistory();
  placement_.TakeCalls();
  TellTimes();
  pipeline_.Process(batch_);
  placement_.AskAboutPages();
  attributor_.blocks().TakeLargeFrees(
      [this](uint64_t start, uint64_t size) { aggregator_.ForgetPages(start, size); });
  const Nanos read_until = observation_.ReadUntil(now);
  const Nanos settled = read_until - std::min(read_until, kSettleNanos);
  const auto lag =
      static_cast<uint64_t>(static_cast<double>(now - settled) / clock_.NanosPerTick());
  Publish(tsc - lag);
  pipeline_.SetSettled(settled);
  attributor_.ForgetBefore(tsc - lag);
  const uint64_t calm = options_.drain_interval * 1'000'000;
  sleep_nanos_ =
      busy ? kBusySleepNanos : std::min(sleep_nanos_ * 2, std::max(calm, kBusySleepNanos));
  ++tick_;
}

// While placement rules make mappings.
void DrainLoop::CountMappings(Nanos now) {
  if (now < next_count_ || !capture::PlacementsWantMappingCount()) return;
  next_count_ = now + kCountNanos;
  const std::optional<base::String> maps = os::ReadOwnMaps();
  const int64_t most =
      os::ReadNumberFile("/proc/sys/vm/max_map_count").value_or(kUsualMostMappings);
  if (!maps) return;
  capture::TellMappingCount(static_cast<uint64_t>(std::count(maps->begin(), maps->end(), '\n')),
                            static_cast<uint64_t>(most));
}

void DrainLoop::Housekeep() {
  const Nanos now = os::MonotonicNanos();
  if (now >= next_turn_) {
    ledger::TurnHookClocks();
    next_turn_ = now + 1'000'000'000;
  }
  observation_.BuryEndedThreads();
  if (tick_ % kUnseenTicks == 0) observation_.AdoptUnseenThreads();
  LearnLateFacts();
  CountMappings(now);
  economy_.Adjust(now, own_cost_);
  if (tick_ % kNameTicks == 1) {
    observation_.RefreshNames();
    observation_.JudgeEngine(now, batch_);
  }
  if (pipeline_.unloads_seen() != capture::UnloadCount()) FollowCode();
  if (now > started_ + kCalibrateAfterNanos) own_cost_.TryOnce(observation_.engine());
  if (options_.checkpoint != 0 && now >= next_checkpoint_) {
    WriteCheckpoint(nullptr);
    const Nanos regular = os::MonotonicNanos() + options_.checkpoint * 1'000'000'000;
    const Nanos second = started_ + kSecondCheckpointNanos;
    next_checkpoint_ = now < second ? std::min(second, regular) : regular;
  }
}

void DrainLoop::ServeEndRequests() {
  const uint32_t requested = control_.end_requested.load(std::memory_order_acquire);
  if (requested == control_.end_done.load(std::memory_order_relaxed)) return;
  Finish(control_.end_how.load(std::memory_order_acquire));
  control_.end_done.store(requested, std::memory_order_release);
  FutexWakeAll(control_.end_done);
}

void DrainLoop::ServeCredentialRequests() {
  control_.credentials_request.Serve([this] {
    CreateProfile();
    checkpoint_.GiveFileTo(control_.credentials);
    TakeCredentials(control_.credentials);
  });
}

// With fewer rights, or in another mount namespace, the profile could no longer be created where it
// belongs: that is done before.
void DrainLoop::CreateProfile() {
  if (!checkpoint_.path().empty()) return;
  LearnLateFacts();
  WriteCheckpoint(nullptr);
}

void DrainLoop::ServeCodeChanges() {
  control_.code_changes.Serve([this] { FollowCode(); });
}

void DrainLoop::FollowCode() {
  Tick(true);
  pipeline_.ForgetCode(capture::UnloadCount());
  attributor_.Refresh();
  SettleGoneModules(modules_, aggregator_, stacks_);
}

void DrainLoop::LearnLateFacts() {
  if (std::exchange(late_known_, true)) return;
  late_ = ReadLateFacts(early_);
  const bool asks = late_.topology.nodes.size() > 1 && !os::PageQuestionsForbidden();
  if (asks && os::PageQuestionsKill()) os::ForbidPageQuestions();
  pipeline_.SetTopology(&late_.topology);
  pipeline_.SetCpuVendor(late_.machine.cpu.vendor);
  placement_.Begin(&late_.topology);
  NoteStartProblems();
}

void DrainLoop::NoteProgramsLeftAlone() {
  if (!capture::programs_left_alone.load(std::memory_order_relaxed)) return;
  log_.Add(profile::Severity::kInfo, "child_without_agent",
           "At least one program that this one started ran without memagent: it was built with a "
           "sanitizer or for another word size, or could not read libmemagent.so (chroot, another "
           "user).");
}

void DrainLoop::Finish(const char* how) {
  LearnLateFacts();
  NoteProgramsLeftAlone();
  if (!selection_.minor_faults.empty()) {
    Tick(true);
    observation_.RefreshNames();
  } else {
    TakeRegionEvents();
    placement_.TakeCalls();
  }
  control_.code_changes.NoteUnobserved(log_);
  DrainWaiter::NoteStartsNotObserved(log_);
  WriteCheckpoint(how);
  Announce(how);
}

}  // namespace memagent::runtime
