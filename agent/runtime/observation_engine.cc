// Which engine Observation uses, and whether it still should.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "agent/capture/period_jitter.h"
#include "agent/os/file.h"
#include "agent/runtime/engine_watch.h"
#include "agent/runtime/observation.h"

namespace memagent::runtime {
namespace {

// Of all events together, in a second.
constexpr uint64_t kFewThrottles = 3;
constexpr uint32_t kMaxThrottleFactor = 64;

void AppendNumber(base::String& text, uint64_t number) {
  char digits[24];
  text.append(digits, std::to_chars(digits, std::end(digits), number).ptr);
}

}  // namespace

capture::EngineError ExplainFailure(const EngineFailure& failure,
                                    const capture::EngineFacts& facts) {
  capture::ErrorContext context;
  context.engine = failure.engine;
  context.perf_event_paranoid = facts.kernel.perf_event_paranoid;
  context.kernel = facts.kernel.version;
  if (failure.attempt != nullptr) {
    context = capture::ContextOf(facts, failure.engine, *failure.attempt);
  }
  return capture::ExplainEngineError(failure.step, failure.error, context);
}

void Observation::SetSelection(const capture::EventSelection* selection,
                               const capture::EngineFacts& facts) {
  selection_ = selection;
  engine_.plan = capture::NextPlan(*selection, nullptr);
  facts_ = &facts;
  max_sample_rate_ = facts.kernel.max_sample_rate;
  context_.processor = {facts.cpu.family, facts.cpu.model};
  if (capture::FindPlan(*selection, EngineKind::kSpe) != nullptr) {
    context_.spe_cpus = ReadSpeCpus(facts.pmus);
  }
}

bool Observation::TryNextPlan(const OpenOutcome& outcome) {
  if (engine_.known || outcome.access != nullptr || engine_.plan == nullptr) return false;
  engine_.failures.push_back(
      {engine_.plan->engine, outcome.error, outcome.failed_step, outcome.failed});
  const capture::EnginePlan* next = capture::NextPlan(*selection_, engine_.plan);
  if (next == nullptr) return false;
  engine_.plan = next;
  return true;
}

// Where the plan's events can't be had for single threads.
void Observation::TryWholeCpus(OpenOutcome& outcome) {
  const auto& ladders = engine_.plan->access;
  const bool offered = std::any_of(ladders.begin(), ladders.end(), [](const auto& ladder) {
    return std::any_of(ladder.begin(), ladder.end(), [](const capture::EventAttempt& attempt) {
      return attempt.scope == capture::EventScope::kCpu;
    });
  });
  const base::Vector<uint32_t> online = offered ? OnlineCpus() : base::Vector<uint32_t>();
  if (online.empty()) return;
  const OpenOutcome of_cpus = cpus_.Open(*engine_.plan, online, options_.ring_pages);
  engine_.whole_cpus = of_cpus.access != nullptr;
  outcome.access = of_cpus.access;
  outcome.rungs = of_cpus.rungs;
  outcome.missing = of_cpus.missing;
  outcome.error = of_cpus.error;
  outcome.failed_step = of_cpus.failed_step;
  outcome.failed = of_cpus.failed;
}

OpenOutcome Observation::OpenEvents(ThreadObserver& observer) {
  const uint64_t ring_pages = FirstRingPages(*observer.record());
  // After a pause.
  if (engine_.whole_cpus && !cpus_.open()) {
    cpus_.Open(*engine_.plan, OnlineCpus(), options_.ring_pages);
  }
  OpenOutcome outcome;
  do {
    const capture::EnginePlan* of_thread = engine_.whole_cpus ? nullptr : engine_.plan;
    outcome =
        observer.Open(*selection_, of_thread, engine_.rungs, ring_pages, options_.fault_period);
    if (!engine_.known && of_thread != nullptr && outcome.access == nullptr) TryWholeCpus(outcome);
  } while (TryNextPlan(outcome));
  return outcome;
}

capture::EngineError Observation::Explain(const EngineFailure& failure) const {
  return ExplainFailure(failure, *facts_);
}

// The engine works without them, but what they would have seen is missing.
void Observation::NoteMissing(const OpenOutcome& outcome) {
  for (const OpenOutcome::Missing& missing : outcome.missing) {
    const capture::EngineError why =
        Explain({engine_.plan->engine, missing.error, capture::EngineStep::kOpen, missing.attempt});
    base::String text(missing.attempt->event);
    text.append(" is not sampled: ").append(why.meaning).append(" ").append(why.remedy);
    log_.Add(profile::Severity::kWarning, "event_not_opened", text);
  }
}

void Observation::NoteOutcome(const OpenOutcome& outcome, ThreadSummary& summary) {
  if (!engine_.known) {
    engine_.access = outcome.access;
    engine_.minor_faults = outcome.minor;
    if (outcome.access != nullptr) engine_.rungs = outcome.rungs;  // else each tries them all
    engine_.ring_pages = outcome.ring_pages;
    engine_.known = true;
    if (outcome.access != nullptr) NoteMissing(outcome);
  }
  summary.not_sampled.clear();
  if (outcome.access != nullptr || engine_.plan == nullptr || engine_.whole_cpus) return;
  const capture::EngineError why =
      Explain({engine_.plan->engine, outcome.error, outcome.failed_step, outcome.failed});
  summary.not_sampled = base::String(why.meaning);
  base::String text(why.meaning);
  text.append(" ").append(why.remedy);
  log_.Add(profile::Severity::kWarning, "thread_not_sampled", text);
}

void Observation::KeepCpuCounts() {
  const base::Vector<EventCounts> counts = cpus_.Sum();
  cpu_events_before_.resize(std::max(cpu_events_before_.size(), counts.size()));
  for (size_t i = 0; i < counts.size(); ++i) cpu_events_before_[i].Add(counts[i]);
}

base::Vector<Observation::EventSum> Observation::SumEvents() const {
  base::Vector<EventSum> sums;
  const auto add = [&sums](const base::Vector<EventCounts>& events, uint64_t places) {
    sums.resize(std::max(sums.size(), events.size()));
    for (size_t i = 0; i < events.size(); ++i) {
      sums[i].counts.Add(events[i]);
      if (events[i].enabled_nanos != 0) sums[i].threads += places;
    }
  };
  for (const auto& [serial, summary] : summaries_) add(summary.events, 1);
  add(cpu_events_before_, 0);
  add(cpus_.Sum(), cpus_.size());
  return sums;
}

// Everything of the plan's events ends with them, but for what it came to.
void Observation::RetireEvents() {
  const base::Vector<EventSum> sums = SumEvents();
  for (size_t i = 0; i < sums.size() && i < engine_.rungs.size(); ++i) {
    const capture::EventLadder& ladder = engine_.plan->access[i];
    if (engine_.rungs[i] < ladder.size()) {
      retired_.push_back({&ladder[engine_.rungs[i]], sums[i]});
    }
  }
  for (auto& [serial, summary] : summaries_) {
    summary.events.clear();
    summary.events_before.clear();
    summary.running_before = summary.running_nanos = summary.enabled_nanos = 0;
  }
  cpus_.Close();
  cpu_events_before_.clear();
}

void Observation::TakeNextPlan(const EngineFailure& failure, const capture::EnginePlan* next,
                               base::Vector<PendingSample>& batch) {
  ReadRings(batch, 0);
  RetireEvents();
  engine_.failures.push_back(failure);
  engine_.plan = next;
  engine_.rungs.clear();
  engine_.access = nullptr;
  engine_.known = engine_.whole_cpus = false;
  throttle_factor_ = 1;
  for (auto& [serial, observer] : observers_) {
    NoteOutcome(OpenEvents(observer), summaries_[serial]);
    if (PeriodFactor() != 1) MovePeriod(observer);
  }
}

void Observation::JudgeSilence(base::Vector<PendingSample>& batch) {
  if (engine_.plan == nullptr || engine_.access == nullptr || engine_.silence_said) return;
  base::Vector<EventCounts> counts;
  for (const EventSum& sum : SumEvents()) counts.push_back(sum.counts);
  const EventState state = StateOfEngine(counts, *engine_.plan);
  if (state != EventState::kNeverRan && state != EventState::kNeverSampled) return;
  const EngineFailure failure = {
      engine_.plan->engine, 0,
      state == EventState::kNeverRan ? capture::EngineStep::kRun : capture::EngineStep::kSample,
      engine_.access};
  const capture::EngineError why = Explain(failure);
  base::String text(engine_.access->event);
  text.append(": ").append(why.meaning).append(" ").append(why.remedy);
  const capture::EnginePlan* next = capture::NextPlan(*selection_, engine_.plan);
  if (next != nullptr) {
    TakeNextPlan(failure, next, batch);
    text.append(" Sampling went on with ");
    text.append(engine_.access == nullptr ? base::String("page faults only")
                                          : engine_.access->event);
    text.append(".");
  } else {
    engine_.silence_said = true;  // there is nothing else to try
  }
  log_.Add(profile::Severity::kWarning, "silent_event", text);
}

// One tick in which too many samples came is no reason; the kernel stops an event up to HZ times a
// second (facts: perf_abi 1.10).
void Observation::JudgeThrottling() {
  uint64_t throttled = 0;
  for (const EventSum& sum : SumEvents()) throttled += sum.counts.throttled;
  const uint64_t fresh = throttled - std::min(throttled, std::exchange(throttled_seen_, throttled));
  if (fresh < kFewThrottles || throttle_factor_ >= kMaxThrottleFactor) return;
  throttle_factor_ *= 2;
  MovePeriods();
  base::String text("The kernel stopped the access events ");
  AppendNumber(text, fresh);
  text.append(
      " times within a second, since they came faster than kernel.perf_event_max_sample_rate "
      "allows, so the period was doubled, to ");
  AppendNumber(text, capture::ScaledPeriod(engine_.plan->period, PeriodFactor()));
  text.append(" ").append(engine_.plan->period_unit).append("; lower rate=, or raise period=.");
  log_.Add(profile::Severity::kWarning, "throttled", text);
}

void Observation::JudgeSampleRate() {
  const auto now = os::ReadNumberFile("/proc/sys/kernel/perf_event_max_sample_rate");
  if (!now || *now <= 0 || static_cast<uint64_t>(*now) >= max_sample_rate_) return;
  base::String text("The kernel lowered kernel.perf_event_max_sample_rate from ");
  AppendNumber(text, max_sample_rate_);
  text.append(" to ");
  max_sample_rate_ = static_cast<uint64_t>(*now);
  AppendNumber(text, max_sample_rate_);
  text.append(
      " during the run, because sampling interrupts took too long (of any program); sysctl "
      "kernel.perf_cpu_time_max_percent=0 keeps it from doing so.");
  log_.Add(profile::Severity::kWarning, "max_sample_rate_lowered", text);
}

// What hardware lost in its own way has no number: only that it was is known.
void Observation::JudgeAreas() {
  EventCounts counts;
  for (const EventSum& sum : SumEvents()) counts.Add(sum.counts);
  if (counts.aux_full > 0) {
    log_.Add(profile::Severity::kWarning, "aux_full",
             "An AUX area was full before it was read, so the kernel stopped sampling that thread "
             "until then; lower rate=, or raise period=.");
  }
  if (counts.aux_partial > 0) {
    log_.Add(profile::Severity::kWarning, "aux_partial",
             "The hardware lost samples that it could not write into an AUX area; lower rate=, or "
             "raise period=.");
  }
  if (counts.aux_collided > 0) {
    log_.Add(profile::Severity::kInfo, "aux_collided",
             "The hardware left samples out because an earlier one was still under way, which "
             "favours fast accesses; if samples are many, raise period=.");
  }
}

void Observation::JudgeReading() {
  for (const auto& [serial, observer] : observers_) {
    for (const ObservedEvent& event : observer.accesses()) {
      if (!event.unreadable()) continue;
      log_.Add(profile::Severity::kWarning, "counts_unreadable",
               "The kernel did not tell memagent how long its events ran and what they lost, so "
               "losses and silent events may be missed; a sandbox that forbids read() on perf "
               "events does that: run outside of it.");
      return;
    }
  }
}

void Observation::JudgeEngine(Nanos now, base::Vector<PendingSample>& batch) {
  JudgeSilence(batch);
  if (now < next_judgement_ || engine_.plan == nullptr) return;
  next_judgement_ = now + 1'000'000'000;
  JudgeThrottling();
  JudgeSampleRate();
  JudgeReading();
  JudgeAreas();
}

void Observation::JitterPeriods(Nanos now, bool now_or_never) {
  const bool wanted = now_or_never && engine_.plan != nullptr && engine_.plan->uses_aux;
  if (now < next_jitter_ && !wanted) return;
  next_jitter_ = now + kJitterNanos;
  last_jitter_ = now;
  MovePeriods();
}

void Observation::MovePeriods() {
  for (auto& [serial, observer] : observers_) MovePeriod(observer);
  if (cpus_.open()) cpus_.SetPeriod(*engine_.plan, PeriodFactor(), NextRandom());
}

Nanos Observation::ReadUntil(Nanos now) const {
  const bool buffered = engine_.plan != nullptr && engine_.plan->uses_aux;
  return buffered ? std::min(now, last_jitter_) : now;
}

// Knuth's MMIX generator.
uint64_t Observation::NextRandom() {
  random_ = random_ * 6364136223846793005ull + 1442695040888963407ull;
  return random_;
}

void Observation::MovePeriod(ThreadObserver& observer) {
  if (engine_.plan != nullptr) observer.SetPeriod(*engine_.plan, PeriodFactor(), NextRandom());
}

void Observation::SetPeriodFactor(uint32_t factor) {
  if (factor == period_factor_) return;
  period_factor_ = factor;
  MovePeriods();
}

}  // namespace memagent::runtime
