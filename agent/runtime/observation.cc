#include "agent/runtime/observation.h"

#include <errno.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "agent/base/syscall.h"
#include "agent/os/file.h"
#include "agent/os/task_list.h"
#include "agent/runtime/raw_thread.h"

namespace memagent::runtime {
namespace {

base::String ReadThreadName(Tid tid) {
  char path[64] = "/proc/self/task/";
  char* end = std::to_chars(path + strlen(path), path + 48, tid).ptr;
  memcpy(end, "/comm", 6);
  const auto text = os::ReadFileHead(path, 64);
  return text ? base::String(os::Trim(*text)) : base::String();
}

// On hybrid machines a thread's loads are counted by one PMU or the other: their times add up.
uint64_t RunningNanos(const base::Vector<ObservedEvent>& events) {
  uint64_t running = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    const auto same_pmu = [&](const ObservedEvent& event) {
      return event.open() && event.pmu_type() == events[i].pmu_type();
    };
    if (!events[i].open() || std::any_of(events.begin(), events.begin() + i, same_pmu)) continue;
    running += events[i].counts().running_nanos;
  }
  return running;
}

}  // namespace

// A program's main thread often begins with the largest burst of page faults.
uint64_t Observation::FirstRingPages(const ledger::ThreadRecord& record) const {
  return record.is_main ? options_.ring_pages : std::max<uint64_t>(options_.ring_pages / 4, 1);
}

void Observation::Observe(ledger::ThreadRecord* record, uint32_t serial) {
  const auto [it, fresh] = observers_.try_emplace(serial, record, context_);
  ThreadSummary& summary = summaries_[serial];
  summary.tid = record->tid;
  summary.main = record->is_main;
  NoteOutcome(OpenEvents(it->second), summary);
  if (PeriodFactor() != 1) MovePeriod(it->second);
  const Nanos now = os::MonotonicNanos();
  const Nanos started = clock_.ToNanos(record->start_tsc);  // 0 before the clock has a slope
  summary.started = started == 0 || started > now ? session_started_ : started;
}

// A thread that was observed before it called a hook keeps its number and its events.
uint32_t Observation::NumberOf(const ledger::ThreadRecord* record) {
  const uint32_t serial = record->serial.load(std::memory_order_relaxed);
  if (serial != ledger::kUnnumbered) return serial;
  const auto unseen = unseen_.find(record->tid);
  if (unseen == unseen_.end()) return ++last_serial_;
  ledger::ThreadRecord* stand_in = unseen->second;
  const uint32_t known_as = stand_in->serial.load(std::memory_order_relaxed);
  unseen_.erase(unseen);
  ledger::ReleaseThread(stand_in);
  return known_as;
}

void Observation::Adopt(ledger::ThreadRecord* record) {
  const uint32_t serial = NumberOf(record);
  const auto observed = observers_.find(serial);
  if (observed != observers_.end()) {
    observed->second.Follow(record);
  } else {
    Observe(record, serial);
  }
  record->serial.store(serial, std::memory_order_relaxed);
  newcomers_.push_back(serial);
  using ledger::ThreadRecord;
  const uint32_t before = record->observed.exchange(ThreadRecord::kObserved);
  if (before == ThreadRecord::kSleeps) FutexWakeAll(record->observed);
  if (before == ThreadRecord::kNotObserved) NoteMissed(summaries_[serial], record->runs_since_tsc);
}

// What a thread did before its events were open. Until the clock has a slope, all time is before.
void Observation::NoteMissed(ThreadSummary& summary, uint64_t since_tsc) {
  const Nanos now = os::MonotonicNanos();
  const Nanos since = clock_.ToNanos(since_tsc);
  summary.unobserved_nanos = now - (since == 0 || since > now ? summary.started : since);
}

// One that has ended was called what the thread was called that made it, or had a name of its own
// for less than a tick.
base::String Observation::NameOf(const ThreadObserver& observer) const {
  const ledger::ThreadRecord& record = *observer.record();
  base::String name;
  if (!observer.has_ended()) name = ReadThreadName(record.tid);
  const auto creator = summaries_.find(record.creation.creator);
  return name.empty() && creator != summaries_.end() ? creator->second.name : name;
}

bool Observation::EnrolNewThreads() {
  const bool any = !newcomers_.empty();
  for (const uint32_t serial : newcomers_) {
    const auto observed = observers_.find(serial);
    if (observed == observers_.end()) continue;
    const ledger::ThreadRecord& record = *observed->second.record();
    ThreadSummary& summary = summaries_[serial];
    summary.name = NameOf(observed->second);
    const ledger::ThreadCreation& creation = record.creation;
    if (summaries_.contains(creation.creator) && creation.tsc != 0) {
      summary.creator = creation.creator;
      summary.created = clock_.ToNanos(creation.tsc);
    }
    if (record.initial_sp != 0) {
      attributor_.AddThread(serial, record.initial_sp, record.fs_base, record.is_main);
      if (!record.is_main) attributor_.NameThread(serial, summary.name);
    }
    aggregator_.Thread(serial);
  }
  newcomers_.clear();
  return any;
}

bool Observation::IsGone(Tid tid) const {
  return base::Syscall(SYS_tgkill, pid_, tid, 0) == -ESRCH;
}

void Observation::AdoptUnseenThreads() {
  // The drain thread is a task, too.
  if (os::CountTasks() <= observers_.size() + 1) return suspects_.clear();
  base::HashMap<Tid, bool> known = {{static_cast<Tid>(base::Syscall(SYS_gettid)), true}};
  for (const auto& [serial, observer] : observers_) known[observer.record()->tid] = true;
  base::Vector<Tid> found = os::ListTasks();
  std::erase_if(found, [&](Tid tid) { return known.contains(tid) || IsGone(tid); });
  for (const Tid tid : found) {
    if (std::find(suspects_.begin(), suspects_.end(), tid) == suspects_.end()) continue;
    ledger::ThreadRecord* record = ledger::RegisterUnseenThread(tid);
    if (record == nullptr) return;
    Adopt(record);
    unseen_[tid] = record;
  }
  suspects_ = std::move(found);
}

void Observation::AdoptIfNew(ledger::ThreadRecord* record) {
  if (record->observed.load(std::memory_order_acquire) != ledger::ThreadRecord::kObserved) {
    Adopt(record);
  }
}

size_t Observation::AdoptNewThreads() {
  size_t adopted = 0;
  for (ledger::ThreadRecord* record = ledger::TakeArrivals(); record != nullptr; ++adopted) {
    AdoptIfNew(std::exchange(record, record->next_arrival));
  }
  return adopted;
}

void Observation::AdoptAllThreads() {
  ledger::ForEachThread([this](ledger::ThreadRecord* record) { AdoptIfNew(record); });
  EnrolNewThreads();
}

bool Observation::ReadRings(base::Vector<PendingSample>& batch, uint64_t tick_nanos) {
  bool busy = false;
  for (auto& [serial, observer] : observers_) {
    aggregate::Accounting& accounting = aggregator_.Thread(serial).accounting;
    const size_t first = batch.size();
    observer.Read(batch, accounting);
    if (observer.was_busy()) observer.GrowRing(options_.ring_pages, batch, accounting);
    if (batch.size() > first) {
      observer.BookLosses(accounting, std::span(batch).subspan(first));
      observer.AdaptFaultPeriod(tick_nanos);
    }
    busy |= observer.was_busy();
  }
  return busy | ReadCpus(batch);
}

// Whose thread a sample of a CPU is of is told by its id. What can't be told is booked on the first
// thread, so that the process's accounts are closed.
bool Observation::ReadCpus(base::Vector<PendingSample>& batch) {
  if (!cpus_.open() || observers_.empty()) return false;
  base::HashMap<Tid, const ledger::ThreadRecord*> records;
  for (auto& [serial, observer] : observers_) records[observer.record()->tid] = observer.record();
  const uint32_t first_thread = summaries_.begin()->first;
  aggregate::Accounting& rest = aggregator_.Thread(first_thread).accounting;
  const size_t first = batch.size();
  const bool busy = cpus_.Read(pid_, context_.processor, batch);
  const auto drain_tid = static_cast<Tid>(base::Syscall(SYS_gettid));
  uint64_t own = 0;  // of the drain thread itself
  const auto is_stranger = [&](PendingSample& sample) {
    const auto known = records.find(sample.raw.tid);
    if (known == records.end()) {
      own += sample.raw.tid == drain_tid ? 1 : 0;
      return true;
    }
    sample.thread = known->second->serial.load(std::memory_order_relaxed);
    sample.fs_base = known->second->fs_base;
    return false;
  };
  const auto end =
      std::remove_if(batch.begin() + static_cast<ptrdiff_t>(first), batch.end(), is_stranger);
  const auto strangers = static_cast<uint64_t>(batch.end() - end);
  batch.erase(end, batch.end());
  rest.DropSamples(DropReason::kAgentCode, own * cpus_.period_factor());
  rest.DropSamples(DropReason::kThreadUnknown, (strangers - own) * cpus_.period_factor());
  BookCpuLosses();
  return busy;
}

void Observation::BookCpuLosses() {
  if (!cpus_.open() || summaries_.empty()) return;
  aggregate::Accounting& rest = aggregator_.Thread(summaries_.begin()->first).accounting;
  const CpuLosses losses = cpus_.TakeLosses();
  rest.DropSamples(DropReason::kMalformedRecord, losses.malformed);
  cpu_lost_here_ += losses.lost_here;
  const auto whole = static_cast<uint64_t>(cpu_lost_here_);
  cpu_lost_here_ -= static_cast<double>(whole);
  rest.DropSamples(DropReason::kRingLost, whole);
}

void Observation::UpdateSummary(uint32_t serial, const ThreadObserver& observer) {
  ThreadSummary& summary = summaries_[serial];
  const base::Vector<ObservedEvent>& events = observer.accesses();
  summary.events = summary.events_before;
  summary.events.resize(std::max(summary.events.size(), events.size()));
  summary.enabled_nanos = summary.throttled = 0;
  for (size_t i = 0; i < events.size(); ++i) summary.events[i].Add(events[i].counts());
  for (const EventCounts& event : summary.events) {
    summary.enabled_nanos = std::max(summary.enabled_nanos, event.enabled_nanos);
    summary.throttled += event.throttled;
  }
  summary.running_nanos =
      std::min(summary.running_before + RunningNanos(events), summary.enabled_nanos);
}

void Observation::Bury(uint32_t serial, ThreadObserver& observer) {
  ledger::ThreadRecord* record = observer.record();
  ThreadSummary& summary = summaries_[serial];
  summary.ended = os::MonotonicNanos();
  aggregate::Accounting& accounting = aggregator_.Thread(serial).accounting;
  observer.BookLosses(accounting, {});
  UpdateSummary(serial, observer);
  const bool by_thread = engine_.plan != nullptr && !engine_.whole_cpus;
  if (summary.running_nanos == 0 && summary.not_sampled.empty() && by_thread) {
    summary.not_sampled = "It had ended before its events were open.";
  }
  for (size_t i = 0; i < kUntrackedReasonCount; ++i) {
    accounting.untracked[i] += record->untracked.count[i].exchange(0, std::memory_order_relaxed);
  }
  record->counters.FlushAll();
  attributor_.RemoveThread(serial);
  unseen_.erase(record->tid);
  ledger::ReleaseThread(record);
}

// Between two full looks the number of tasks tells: the drain thread is one of them.
void Observation::FindEndedThreads() {
  if (looks_++ % kFullLook != 0 && os::CountTasks() > observers_.size()) return;
  for (auto& [serial, observer] : observers_) observer.LookWhetherEnded(pid_);
}

void Observation::BuryEndedThreads() {
  for (auto it = observers_.begin(); it != observers_.end();) {
    if (!it->second.has_ended()) {
      ++it;
      continue;
    }
    Bury(it->first, it->second);
    it = observers_.erase(it);
  }
}

void Observation::CloseAll() {
  for (auto& [serial, observer] : observers_) {
    observer.BookLosses(aggregator_.Thread(serial).accounting, {});
    UpdateSummary(serial, observer);
    ThreadSummary& summary = summaries_[serial];
    summary.events_before = summary.events;
    summary.running_before = summary.running_nanos;
    attributor_.RemoveThread(serial);
    observer.record()->observed.store(ledger::ThreadRecord::kNotObserved);
  }
  observers_.clear();
  BookCpuLosses();
  KeepCpuCounts();
  cpus_.Close();
}

void Observation::RefreshNames() {
  for (auto& [serial, observer] : observers_) {
    ThreadSummary& summary = summaries_[serial];
    const base::String name = ReadThreadName(summary.tid);
    if (!name.empty() && name != summary.name) {
      summary.name = name;
      aggregator_.Thread(serial);
      if (!summary.main) attributor_.NameThread(serial, name);
    }
    observer.BookLosses(aggregator_.Thread(serial).accounting, {});
    UpdateSummary(serial, observer);
  }
  BookCpuLosses();
}

}  // namespace memagent::runtime
