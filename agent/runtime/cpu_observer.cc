#include "agent/runtime/cpu_observer.h"

#include <errno.h>

#include <algorithm>
#include <utility>

#include "agent/decode/perf_record.h"
#include "agent/ledger/hook_clock.h"
#include "agent/os/cpu_list.h"
#include "agent/os/file.h"

namespace memagent::runtime {

long CpuObserver::MapRing(Cpu& cpu, uint64_t pages, OpenOutcome& outcome) {
  const auto owner = std::find_if(cpu.events.all().begin(), cpu.events.all().end(),
                                  [](const ObservedEvent& event) { return event.open(); });
  long result = -EINVAL;
  for (; pages >= 1; pages /= 2) {
    result = cpu.ring.Map(owner->fd(), pages);
    outcome.ring_pages = pages;
    if (result != -EPERM && result != -ENOMEM) break;
  }
  if (result != 0) {
    outcome.Fail(capture::EngineStep::kMap, result);
    return result;
  }
  for (const ObservedEvent& event : cpu.events.all()) {
    if (!event.open() || &event == &*owner) continue;
    result = os::RedirectPerfOutput(event.fd(), owner->fd());
    if (result == 0) continue;
    outcome.Fail(capture::EngineStep::kRedirect, result);
    return result;
  }
  return 0;
}

bool CpuObserver::OpenCpu(const capture::EnginePlan& plan, uint32_t number, uint64_t ring_pages,
                          OpenOutcome& outcome) {
  Cpu& cpu = cpus_[number];
  ledger::AddRing(nullptr);
  const Rungs rungs = std::move(outcome.rungs);  // of the CPU before: all are to be the same
  outcome.rungs = {};
  outcome.access = nullptr;
  cpu.events.Open(plan, rungs, {.tid = -1, .cpu = static_cast<int>(number)}, outcome);
  return outcome.access != nullptr && MapRing(cpu, ring_pages, outcome) == 0;
}

OpenOutcome CpuObserver::Open(const capture::EnginePlan& plan, std::span<const uint32_t> cpus,
                              uint64_t ring_pages) {
  Close();
  OpenOutcome outcome;
  outcome.ring_pages = ring_pages;
  for (const uint32_t number : cpus) {
    if (OpenCpu(plan, number, outcome.ring_pages, outcome)) continue;
    outcome.access = nullptr;
    Close();
    return outcome;
  }
  if (!cpus_.empty()) outcome.error = 0;
  for (auto& [number, cpu] : cpus_) {
    for (const ObservedEvent& event : cpu.events.all()) {
      if (event.open()) os::EnablePerfEvent(event.fd());
    }
  }
  return outcome;
}

void CpuObserver::Close() {
  for (auto& [number, cpu] : cpus_) {
    cpu.ring.Unmap();
    ledger::RemoveRing(nullptr);
  }
  cpus_.clear();
}

void CpuObserver::Take(std::span<const uint8_t> bytes, int32_t pid,
                       const decode::IbsProcessor& processor, Cpu& cpu,
                       base::Vector<PendingSample>& batch) {
  const auto id = decode::PeekSampleEventId(bytes);
  ObservedEvent* event = id ? cpu.events.Find(*id) : nullptr;
  const bool orphan = id && event == nullptr;
  const decode::RecordLayout layout = event == nullptr ? decode::RecordLayout{} : event->layout();
  const auto record = orphan ? std::nullopt : decode::ParseRecord(bytes, layout);
  if (!record) {
    ++cpu.malformed;
    return;
  }
  if (record->kind != decode::RecordKind::kSample) {
    ObservedEvent* source = cpu.events.Find(record->event_id);
    if (source == nullptr) return;
    if (record->kind == decode::RecordKind::kLost) source->NoteLost(record->count);
    if (record->kind == decode::RecordKind::kThrottle) source->NoteThrottle();
    return;
  }
  event->NoteSample();
  ++cpu.read;
  if (record->sample.pid != pid) return;
  ++cpu.read_here;
  batch.push_back(cpu.events.Pending(*event, record->sample, processor));
}

bool CpuObserver::Read(int32_t pid, const decode::IbsProcessor& processor,
                       base::Vector<PendingSample>& batch) {
  bool busy = false;
  for (auto& entry : cpus_) {
    auto& cpu = entry.second;  // clang 14 captures no structured binding
    busy |= cpu.ring.UnreadBytes() > cpu.ring.data_bytes() / 4;
    cpu.ring.Drain(
        [&](std::span<const uint8_t> bytes) { Take(bytes, pid, processor, cpu, batch); });
  }
  return busy;
}

CpuLosses CpuObserver::TakeLosses() {
  CpuLosses losses;
  for (auto& [number, cpu] : cpus_) {
    losses.malformed += std::exchange(cpu.malformed, 0);
    const uint64_t lost = cpu.events.Refresh([](size_t) { return true; });
    if (lost == 0) continue;
    losses.lost += lost;
    const double share =
        cpu.read == 0 ? 1 : static_cast<double>(cpu.read_here) / static_cast<double>(cpu.read);
    losses.lost_here += static_cast<double>(lost) * share;
  }
  return losses;
}

void CpuObserver::SetPeriod(const capture::EnginePlan& plan, uint32_t factor, uint64_t random) {
  for (auto& [number, cpu] : cpus_) {
    cpu.events.SetPeriod(plan, factor, random);
    period_factor_ = cpu.events.period_factor();
  }
}

base::Vector<EventCounts> CpuObserver::Sum() const {
  base::Vector<EventCounts> sums;
  for (const auto& [number, cpu] : cpus_) {
    sums.resize(cpu.events.all().size());
    for (size_t i = 0; i < sums.size(); ++i) sums[i].Add(cpu.events.all()[i].counts());
  }
  return sums;
}

base::Vector<uint32_t> OnlineCpus(const char* path) {
  const auto text = os::ReadFileHead(path, 4096);
  return text ? os::ParseCpuList(*text).value_or(base::Vector<uint32_t>())
              : base::Vector<uint32_t>();
}

}  // namespace memagent::runtime
