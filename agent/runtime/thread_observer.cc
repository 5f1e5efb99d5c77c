#include "agent/runtime/thread_observer.h"

#include <errno.h>

#include <algorithm>
#include <array>
#include <utility>

#include "agent/base/syscall.h"
#include "agent/capture/period_jitter.h"
#include "agent/os/machine.h"

namespace memagent::runtime {
namespace {

// A sampled page fault costs 2.1 to 2.5 us (facts: software_engine 6): 4,000 a second are 1 %.
constexpr uint64_t kFaultsPerSecond = 4000;
// Faults come in patterns (a page of the heap, a page of the agent's index, ...), and a period that
// shares a factor with the pattern sees one kind only: measured with powers of two, all samples or
// none fell on a site. So the periods are primes, each about twice the one before. At most about
// 400,000 faults a second are possible on a thread: the last keeps them near the bound, and a small
// array after a big one is still seen.
constexpr std::array<uint64_t, 6> kFaultPeriods = {1, 3, 7, 13, 29, 61};

}  // namespace

uint64_t NextPeriod(const capture::EnginePlan& plan, uint32_t factor, uint64_t random) {
  const capture::PeriodGrid grid = {
      .granule = plan.period_step,
      .minimum = plan.shortest_period,
      .maximum = plan.uses_aux ? capture::kSpePeriods.maximum : capture::kLargestPeriod};
  const uint64_t nominal = capture::ScaledPeriod(plan.period, factor);
  return plan.varies_itself ? capture::AllowedPeriod(nominal, grid)
                            : capture::JitteredPeriod(nominal, grid, random);
}

bool ThreadObserver::any_access() const {
  return std::any_of(accesses_.begin(), accesses_.end(),
                     [](const ObservedEvent& event) { return event.open(); });
}

ObservedEvent* ThreadObserver::RingOwner() {
  ObservedEvent* owner = nullptr;
  ForEachEvent([&](ObservedEvent& event) { owner = &event; });  // the rarest comes last
  return owner;
}

bool ThreadObserver::MapRing(const ObservedEvent& owner, uint64_t pages, OpenOutcome& outcome) {
  for (; pages >= 1; pages /= 2) {
    const long result = ring_.Map(owner.fd(), pages);
    if (result == 0) {
      outcome.ring_pages = pages;
      return true;
    }
    outcome.error = static_cast<int>(-result);
    outcome.failed_step = capture::EngineStep::kMap;
    if (result != -EPERM && result != -ENOMEM) break;
  }
  return false;
}

bool ThreadObserver::RedirectTo(const ObservedEvent& owner) {
  bool all = true;
  ForEachEvent([&](ObservedEvent& event) {
    if (&event == &owner || &event == &major_) return;
    all = all && os::RedirectPerfOutput(event.fd(), owner.fd()) == 0;
  });
  return all;
}

void ThreadObserver::EnableAll() {
  ForEachEvent([](ObservedEvent& event) { os::EnablePerfEvent(event.fd()); });
}

void ThreadObserver::CloseAll() {
  ForEachEvent([](ObservedEvent& event) { event.Close(); });
  accesses_.clear();
  ring_.Unmap();
}

void ThreadObserver::OpenAccesses(const capture::EnginePlan& plan, const Rungs& rungs,
                                  OpenOutcome& outcome) {
  engine_ = plan.engine;
  accesses_.resize(plan.access.size());
  for (size_t i = 0; i < accesses_.size(); ++i) {
    const capture::EventLadder& ladder = plan.access[i];
    const size_t first = rungs.empty() ? 0 : rungs[i];
    const capture::EventAttempt* opened =
        accesses_[i].Open(ladder, first, record_->tid, outcome.error);
    outcome.rungs.push_back(opened == nullptr ? ladder.size()
                                              : static_cast<size_t>(opened - ladder.data()));
    if (outcome.access == nullptr) outcome.access = opened;
  }
}

OpenOutcome ThreadObserver::Open(const capture::EventSelection& selection,
                                 const capture::EnginePlan* plan, const Rungs& rungs,
                                 uint64_t ring_pages, uint64_t fault_period) {
  CloseAll();
  OpenOutcome outcome;
  adapt_faults_ = fault_period == 0;
  fault_period_ = std::max<uint64_t>(fault_period, 1);
  major_ladder_ = &selection.major_faults;
  int ignored = 0;
  outcome.minor = minor_.Open(selection.minor_faults, 0, record_->tid, ignored);
  if (outcome.minor != nullptr) major_.Open(*major_ladder_, 0, record_->tid, ignored);
  if (plan != nullptr) OpenAccesses(*plan, rungs, outcome);
  const ObservedEvent* owner = RingOwner();
  if (owner == nullptr || !MapRing(*owner, ring_pages, outcome) || !RedirectTo(*owner)) {
    CloseAll();
    outcome.access = outcome.minor = nullptr;
    return outcome;
  }
  if (outcome.access != nullptr) outcome.error = 0;
  EnableAll();
  return outcome;
}

// For a moment no event for major faults is enabled: they are a matter of milliseconds of reading
// from a disk.
void ThreadObserver::GrowRing(uint64_t pages, base::Vector<PendingSample>& batch,
                              aggregate::Accounting& accounting) {
  if (!can_grow_ || !major_.open() || ring_->data_bytes() >= pages * os::PageBytes()) return;
  ObservedEvent owner;
  int error = 0;
  WatchedRing ring(ring_.spans());
  can_grow_ = owner.Open(*major_ladder_, 0, record_->tid, error) != nullptr &&
              ring.Map(owner.fd(), pages, true) == 0 && RedirectTo(owner);
  if (!can_grow_) {
    RedirectTo(major_);
    return;
  }
  os::DisablePerfEvent(major_.fd());
  os::EnablePerfEvent(owner.fd());
  Read(batch, accounting);
  lost_by_closed_ += major_.Refresh();
  ring_.Swap(ring);
  major_ = std::move(owner);
}

ObservedEvent* ThreadObserver::EventWithId(uint64_t id) {
  ObservedEvent* found = nullptr;
  ForEachEvent([&](ObservedEvent& event) {
    if (event.id() == id) found = &event;
  });
  return found;
}

PendingSample ThreadObserver::Pending(const decode::RawSample& raw, bool is_fault) const {
  PendingSample pending;
  pending.raw = raw;
  pending.thread = record_->serial.load(std::memory_order_relaxed);
  pending.fs_base = record_->fs_base;
  pending.is_fault = is_fault;
  pending.scale = static_cast<double>(is_fault ? fault_period_ : period_factor_);
  if (!is_fault && engine_ != EngineKind::kSoftware) {
    pending.hardware = decode::DecodeHardware(engine_, raw, context_.processor);
  }
  pending.raw.raw = {};  // the record's bytes are gone after this
  return pending;
}

void ThreadObserver::Take(std::span<const uint8_t> bytes, base::Vector<PendingSample>& batch,
                          aggregate::Accounting& accounting) {
  const auto id = decode::PeekSampleEventId(bytes);
  ObservedEvent* event = id ? EventWithId(*id) : nullptr;
  const bool orphan = id && event == nullptr;
  const decode::RecordLayout no_sample;
  const auto record =
      orphan ? std::nullopt
             : decode::ParseRecord(bytes, event == nullptr ? no_sample : event->layout());
  if (!record) {
    accounting.DropSamples(DropReason::kMalformedRecord, 1);
    return;
  }
  if (record->kind == decode::RecordKind::kSample) {
    batch.push_back(Pending(record->sample, IsFault(event)));
    event->NoteSample();
    if (IsFault(event)) ++faults_this_tick_;
    return;
  }
  ObservedEvent* source = EventWithId(record->event_id);
  if (source == nullptr) return;
  if (record->kind == decode::RecordKind::kLost) source->NoteLost(record->count);
  if (record->kind == decode::RecordKind::kThrottle) source->NoteThrottle();
}

void ThreadObserver::Read(base::Vector<PendingSample>& batch, aggregate::Accounting& accounting) {
  if (!ring_->mapped()) return;
  was_busy_ = ring_->UnreadBytes() > ring_->data_bytes() / 4;
  ring_->Drain([&](std::span<const uint8_t> bytes) { Take(bytes, batch, accounting); });
}

void ThreadObserver::BookLosses(aggregate::Accounting& accounting, std::span<PendingSample> fresh) {
  for (ObservedEvent& event : accesses_) {
    accounting.DropSamples(DropReason::kRingLost, event.Refresh() * period_factor_);
  }
  const uint64_t lost_faults =
      minor_.Refresh() + major_.Refresh() + std::exchange(lost_by_closed_, 0);
  if (lost_faults == 0) return;
  accounting.DropFaults(DropReason::kRingLost, lost_faults);
  const auto is_fault = [](const PendingSample& sample) { return sample.is_fault; };
  const auto seen = static_cast<double>(std::count_if(fresh.begin(), fresh.end(), is_fault));
  for (PendingSample& sample : fresh) {
    if (sample.is_fault) sample.scale *= 1 + static_cast<double>(lost_faults) / seen;
  }
}

void ThreadObserver::AdaptFaultPeriod(uint64_t tick_nanos) {
  const uint64_t faults = std::exchange(faults_this_tick_, 0);
  if (!adapt_faults_ || !minor_.open()) return;
  const uint64_t allowed = kFaultsPerSecond * tick_nanos / 1'000'000'000;
  size_t step = fault_step_;
  if (faults > 2 * allowed + 64) {
    step = std::min(step + 1, kFaultPeriods.size() - 1);
  } else if (faults < allowed / 4 && step > 0) {
    --step;
  }
  if (step == fault_step_ || os::SetPerfPeriod(minor_.fd(), kFaultPeriods[step]) != 0) return;
  fault_step_ = step;
  fault_period_ = kFaultPeriods[step];
}

void ThreadObserver::SetPeriod(const capture::EnginePlan& plan, uint32_t factor, uint64_t random) {
  const uint64_t period = NextPeriod(plan, factor, random);
  for (const ObservedEvent& event : accesses_) {
    if (event.open() && os::SetPerfPeriod(event.fd(), period) == 0) period_factor_ = factor;
  }
}

void ThreadObserver::LookWhetherEnded(int32_t pid) {
  ended_ = base::Syscall(SYS_tgkill, pid, record_->tid, 0) == -ESRCH;
}

}  // namespace memagent::runtime
