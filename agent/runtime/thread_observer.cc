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

bool ThreadObserver::HasChannel(const ObservedEvent& event) const {
  const auto index = static_cast<size_t>(&event - accesses_.all().data());
  return index < accesses_.all().size() && channels_.contains(index);
}

ObservedEvent* ThreadObserver::RingOwner() {
  ObservedEvent* owner = nullptr;
  ForEachEvent([&](ObservedEvent& event) {
    if (!HasChannel(event)) owner = &event;  // the rarest comes last
  });
  return owner;
}

bool ThreadObserver::MapRing(const ObservedEvent& owner, uint64_t pages, OpenOutcome& outcome) {
  for (; pages >= 1; pages /= 2) {
    const long result = ring_.Map(owner.fd(), pages);
    if (result == 0) {
      outcome.ring_pages = pages;
      return true;
    }
    outcome.Fail(capture::EngineStep::kMap, result);
    if (result != -EPERM && result != -ENOMEM) break;
  }
  return false;
}

long ThreadObserver::RedirectTo(const ObservedEvent& owner) {
  long first_error = 0;
  ForEachEvent([&](ObservedEvent& event) {
    if (&event == &owner || &event == &major_ || HasChannel(event)) return;
    const long result = os::RedirectPerfOutput(event.fd(), owner.fd());
    if (first_error == 0) first_error = result;
  });
  return first_error;
}

// An access event that can't be started is closed, as one that could not be opened.
void ThreadObserver::EnableAll(const capture::EnginePlan* plan, OpenOutcome& outcome) {
  ForEachEvent([&](ObservedEvent& event) {
    const long result = os::EnablePerfEvent(event.fd());
    if (result == 0 || IsFault(&event)) return;
    outcome.Fail(capture::EngineStep::kControl, result);
    const auto index = static_cast<size_t>(&event - accesses_.all().data());
    channels_.erase(index);
    accesses_.Close(index, plan->access[index], outcome);
  });
}

void ThreadObserver::CloseAll() {
  channels_.clear();
  accesses_.Close();
  minor_.Close();
  major_.Close();
  ring_.Unmap();
}

void ThreadObserver::MapChannels(const capture::EnginePlan& plan, OpenOutcome& outcome) {
  for (size_t i = 0; i < accesses_.all().size(); ++i) {
    const ObservedEvent& event = accesses_.all()[i];
    if (!event.open()) continue;
    if (channels_[i].Map(event, outcome)) continue;
    channels_.erase(i);
    accesses_.Close(i, plan.access[i], outcome);
  }
}

// The ring of those events that have none of their own. Without it they are closed.
void ThreadObserver::OpenRing(uint64_t pages, OpenOutcome& outcome) {
  const ObservedEvent* owner = RingOwner();
  if (owner == nullptr) return;
  bool good = MapRing(*owner, pages, outcome);
  if (good) {
    const long result = RedirectTo(*owner);
    good = result == 0;
    if (!good) outcome.Fail(capture::EngineStep::kRedirect, result);
  }
  if (good) return;
  minor_.Close();
  major_.Close();
  ring_.Unmap();
  outcome.minor = nullptr;
  if (!channels_.empty()) return;
  accesses_.Close();
  outcome.access = nullptr;
}

OpenOutcome ThreadObserver::Open(const capture::EventSelection& selection,
                                 const capture::EnginePlan* plan, const Rungs& rungs,
                                 uint64_t ring_pages, uint64_t fault_period) {
  CloseAll();
  OpenOutcome outcome;
  adapt_faults_ = fault_period == 0;
  fault_period_ = std::max<uint64_t>(fault_period, 1);
  major_ladder_ = &selection.major_faults;
  const os::PerfTarget thread = {.tid = record_->tid};
  OpenOutcome of_faults;
  outcome.minor = minor_.Open(selection.minor_faults, 0, thread, of_faults);
  if (outcome.minor != nullptr) major_.Open(*major_ladder_, 0, thread, of_faults);
  if (plan != nullptr) accesses_.Open(*plan, rungs, thread, outcome);
  if (plan != nullptr && plan->uses_aux) MapChannels(*plan, outcome);
  OpenRing(ring_pages, outcome);
  EnableAll(plan, outcome);
  if (outcome.access != nullptr) outcome.error = 0;
  return outcome;
}

// For a moment no event for major faults is enabled: they are a matter of milliseconds of reading
// from a disk.
void ThreadObserver::GrowRing(uint64_t pages, base::Vector<PendingSample>& batch,
                              aggregate::Accounting& accounting) {
  if (!can_grow_ || !major_.open() || ring_->data_bytes() >= pages * os::PageBytes()) return;
  ObservedEvent owner;
  OpenOutcome ignored;
  WatchedRing ring(ring_.spans());
  can_grow_ = owner.Open(*major_ladder_, 0, {.tid = record_->tid}, ignored) != nullptr &&
              ring.Map(owner.fd(), pages, true) == 0 && RedirectTo(owner) == 0;
  if (!can_grow_) {
    RedirectTo(major_);  // those that were moved already
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

void ThreadObserver::Own(base::Vector<PendingSample>& batch, size_t first) const {
  for (size_t i = first; i < batch.size(); ++i) {
    batch[i].thread = record_->serial.load(std::memory_order_relaxed);
    batch[i].fs_base = record_->fs_base;
  }
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
    event->NoteSample();
    if (!IsFault(event)) {
      batch.push_back(accesses_.Pending(*event, record->sample, context_.processor));
      return;
    }
    PendingSample& fault = batch.emplace_back();
    fault.raw = record->sample;
    fault.is_fault = true;
    fault.scale = static_cast<double>(fault_period_);
    ++faults_this_tick_;
    return;
  }
  ObservedEvent* source = EventWithId(record->event_id);
  if (source == nullptr) return;
  if (record->kind == decode::RecordKind::kLost) source->NoteLost(record->count);
  if (record->kind == decode::RecordKind::kThrottle) source->NoteThrottle();
}

void ThreadObserver::ReadChannels(base::Vector<PendingSample>& batch,
                                  aggregate::Accounting& accounting) {
  for (auto& [index, channel] : channels_) {
    const size_t first = batch.size();
    ObservedEvent& event = accesses_.all()[index];
    AuxLosses losses = channel.Read(event, context_.spe_cpus, batch);
    if (ended_) losses.damaged += channel.ReadRest(event, context_.spe_cpus, batch).damaged;
    for (size_t i = first; i < batch.size(); ++i) batch[i].scale = accesses_.ScaleOfNext(event);
    accounting.DropSamples(DropReason::kMalformedRecord, losses.malformed);
    accounting.DropSamples(DropReason::kDamagedRecord, losses.damaged * accesses_.period_factor());
  }
}

void ThreadObserver::Read(base::Vector<PendingSample>& batch, aggregate::Accounting& accounting) {
  const size_t first = batch.size();
  if (ring_->mapped()) {
    was_busy_ = ring_->UnreadBytes() > ring_->data_bytes() / 4;
    ring_->Drain([&](std::span<const uint8_t> bytes) { Take(bytes, batch, accounting); });
  }
  ReadChannels(batch, accounting);
  Own(batch, first);
}

void ThreadObserver::BookLosses(aggregate::Accounting& accounting, std::span<PendingSample> fresh) {
  // What a ring loses that only announces is read all the same.
  const auto is_lost = [this](size_t index) { return !channels_.contains(index); };
  accounting.DropSamples(DropReason::kRingLost, accesses_.Refresh(is_lost));
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

void ThreadObserver::LookWhetherEnded(int32_t pid) {
  ended_ = base::Syscall(SYS_tgkill, pid, record_->tid, 0) == -ESRCH;
}

}  // namespace memagent::runtime
