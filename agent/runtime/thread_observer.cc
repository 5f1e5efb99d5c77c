#include "agent/runtime/thread_observer.h"

#include <errno.h>

#include <algorithm>
#include <array>
#include <utility>

#include "agent/base/syscall.h"
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

const capture::EventAttempt* ThreadObserver::OpenFirst(const capture::EventLadder& ladder,
                                                       Event& event, int& error) {
  for (const capture::EventAttempt& attempt : ladder) {
    perf_event_attr attr = attempt.attr;
    event.fd = os::UniqueFd(os::OpenPerfEvent(attr, record_->tid));
    if (!event.fd.valid()) {
      error = event.fd.error();
      continue;
    }
    error = 0;
    event.id = os::PerfEventId(event.fd.get()).value_or(0);
    event.layout = {attr.sample_type, attr.sample_regs_user};
    event.read_format = attr.read_format;
    return &attempt;
  }
  return nullptr;
}

bool ThreadObserver::MapRing(uint64_t pages, OpenOutcome& outcome) {
  const Event& owner = RingOwner();
  if (!owner.fd.valid()) return false;
  for (; pages >= 1; pages /= 2) {
    const long result = ring_.Map(owner.fd.get(), pages);
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

bool ThreadObserver::RedirectTo(const Event& owner) {
  for (const Event* event : {&access_, &minor_}) {
    if (event == &owner || !event->fd.valid()) continue;
    if (os::RedirectPerfOutput(event->fd.get(), owner.fd.get()) != 0) return false;
  }
  return true;
}

void ThreadObserver::CloseAll() {
  for (Event* event : {&access_, &minor_, &major_}) event->fd.Reset();
  ring_.Unmap();
}

OpenOutcome ThreadObserver::Open(const capture::EventSelection& selection,
                                 const capture::EnginePlan* plan, uint64_t ring_pages,
                                 uint64_t fault_period) {
  OpenOutcome outcome;
  adapt_faults_ = fault_period == 0;
  fault_period_ = std::max<uint64_t>(fault_period, 1);
  major_ladder_ = &selection.major_faults;
  int ignored = 0;
  outcome.minor = OpenFirst(selection.minor_faults, minor_, ignored);
  if (outcome.minor != nullptr) OpenFirst(*major_ladder_, major_, ignored);
  if (plan != nullptr) outcome.access = OpenFirst(plan->access.front(), access_, outcome.error);
  if (!MapRing(ring_pages, outcome) || !RedirectTo(RingOwner())) {
    CloseAll();
    outcome.access = outcome.minor = nullptr;
    return outcome;
  }
  if (outcome.access != nullptr) outcome.error = 0;
  for (Event* event : {&access_, &minor_, &major_}) {
    if (event->fd.valid()) os::EnablePerfEvent(event->fd.get());
  }
  return outcome;
}

// For a moment no event for major faults is enabled: they are a matter of milliseconds of reading
// from a disk.
void ThreadObserver::GrowRing(uint64_t pages, base::Vector<PendingSample>& batch,
                              aggregate::Accounting& accounting) {
  if (!can_grow_ || !major_.fd.valid() || ring_->data_bytes() >= pages * os::PageBytes()) return;
  Event owner;
  int error = 0;
  WatchedRing ring(ring_.spans());
  can_grow_ = OpenFirst(*major_ladder_, owner, error) != nullptr &&
              ring.Map(owner.fd.get(), pages, true) == 0 && RedirectTo(owner);
  if (!can_grow_) {
    RedirectTo(major_);
    return;
  }
  os::DisablePerfEvent(major_.fd.get());
  os::EnablePerfEvent(owner.fd.get());
  Read(batch, accounting);
  lost_by_closed_ += NewlyLost(major_);
  ring_.Swap(ring);
  major_ = std::move(owner);
}

ThreadObserver::Event* ThreadObserver::EventWithId(uint64_t id) {
  for (Event* event : {&access_, &minor_, &major_}) {
    if (event->fd.valid() && event->id == id) return event;
  }
  return nullptr;
}

void ThreadObserver::Take(std::span<const uint8_t> bytes, base::Vector<PendingSample>& batch,
                          aggregate::Accounting& accounting) {
  const auto id = decode::PeekSampleEventId(bytes);
  Event* event = id ? EventWithId(*id) : &access_;
  const auto record = event == nullptr ? std::nullopt : decode::ParseRecord(bytes, event->layout);
  if (!record) {
    accounting.DropSamples(DropReason::kMalformedRecord, 1);
    return;
  }
  switch (record->kind) {
    case decode::RecordKind::kSample: {
      const bool is_fault = event != &access_;
      batch.push_back({record->sample, record_->serial.load(std::memory_order_relaxed),
                       record_->fs_base, is_fault,
                       static_cast<double>(is_fault ? fault_period_ : period_factor_)});
      if (is_fault) ++faults_this_tick_;
      return;
    }
    case decode::RecordKind::kLost:
      if (Event* source = EventWithId(record->event_id)) source->lost_in_records += record->count;
      return;
    case decode::RecordKind::kThrottle:
      ++throttled_;
      return;
    default:
      return;
  }
}

void ThreadObserver::Read(base::Vector<PendingSample>& batch, aggregate::Accounting& accounting) {
  if (!ring_->mapped()) return;
  was_busy_ = ring_->UnreadBytes() > ring_->data_bytes() / 4;
  ring_->Drain([&](std::span<const uint8_t> bytes) { Take(bytes, batch, accounting); });
}

uint64_t ThreadObserver::NewlyLost(Event& event) {
  if (!event.fd.valid()) return 0;
  uint64_t lost = event.lost_in_records;
  if (const auto counts = os::ReadPerfCounts(event.fd.get(), event.read_format)) {
    if (counts->has_lost) lost = counts->lost;
    if (&event == &access_) counts_ = *counts;
  }
  const uint64_t fresh = lost - event.lost_booked;
  event.lost_booked = lost;
  return fresh;
}

void ThreadObserver::BookLosses(aggregate::Accounting& accounting, std::span<PendingSample> fresh) {
  accounting.DropSamples(DropReason::kRingLost, NewlyLost(access_) * period_factor_);
  const uint64_t lost_faults =
      NewlyLost(minor_) + NewlyLost(major_) + std::exchange(lost_by_closed_, 0);
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
  if (!adapt_faults_ || !minor_.fd.valid()) return;
  const uint64_t allowed = kFaultsPerSecond * tick_nanos / 1'000'000'000;
  size_t step = fault_step_;
  if (faults > 2 * allowed + 64) {
    step = std::min(step + 1, kFaultPeriods.size() - 1);
  } else if (faults < allowed / 4 && step > 0) {
    --step;
  }
  if (step == fault_step_ || os::SetPerfPeriod(minor_.fd.get(), kFaultPeriods[step]) != 0) return;
  fault_step_ = step;
  fault_period_ = kFaultPeriods[step];
}

void ThreadObserver::SetPeriod(uint64_t nominal, uint32_t factor, uint64_t random) {
  if (!access_.fd.valid()) return;
  nominal *= factor;
  const uint64_t span = nominal / 8;  // -1/16 .. +1/16
  const uint64_t period = nominal - span / 2 + (span == 0 ? 0 : random % span);
  if (os::SetPerfPeriod(access_.fd.get(), period) == 0) period_factor_ = factor;
}

void ThreadObserver::LookWhetherEnded(int32_t pid) {
  ended_ = base::Syscall(SYS_tgkill, pid, record_->tid, 0) == -ESRCH;
}

}  // namespace memagent::runtime
