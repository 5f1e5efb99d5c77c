#include "agent/runtime/aux_channel.h"

#include <errno.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "agent/decode/spe_access.h"
#include "agent/ledger/hook_clock.h"
#include "agent/os/machine.h"
#include "agent/os/perf_event.h"

namespace memagent::runtime {
namespace {

// A record is 64 bytes at most: this holds two seconds of samples at 1 kHz.
constexpr size_t kAreaBytes = size_t{128} << 10;
// An AUX record is 72 bytes with its trailer, and comes with every switch of the thread.
constexpr size_t kRingPages = 2;

PendingSample Pending(const decode::SpeRecord& record, const decode::SpeCpu& spe_cpu) {
  PendingSample pending;
  pending.hardware = decode::SpeAccess(record, spe_cpu);
  pending.raw.ip = record.pc;
  pending.raw.exact_ip = true;
  pending.raw.address = record.virtual_address;
  pending.raw.physical_address = record.physical_address;
  pending.raw.weight = record.total_latency.value_or(0);
  pending.raw.data_src = decode::SpePerfDataSource(record, spe_cpu);
  pending.raw.has_data_src = true;
  return pending;
}

// An event that finds its area full is disabled by the kernel, or only stopped until its thread is
// next switched in: Linux 6.1 takes the number of the CPU for the flag that says so, and on CPU 0
// it is 0 (kernel/events/ring_buffer.c, perf_aux_output_begin: pending_disable; seen in a guest,
// tests/system/simpmu_spe_test.py). Enabling does nothing to an event that is not disabled.
void Restart(const ObservedEvent& event) {
  os::DisablePerfEvent(event.fd());
  os::EnablePerfEvent(event.fd());
}

}  // namespace

AuxChannel::~AuxChannel() {
  if (!ring_.mapped()) return;
  ledger::RemoveRing(nullptr);
  aux_.Unmap();
  ring_.Unmap();
}

long AuxChannel::MapArea(const ObservedEvent& event) {
  size_t pages = std::max(kAreaBytes / os::PageBytes(), os::AuxRing::kMinPages);
  long result = -EINVAL;
  for (; pages >= os::AuxRing::kMinPages; pages /= 2) {
    result = aux_.Map(event.fd(), ring_.control(), pages);
    if (result != -EPERM && result != -ENOMEM) break;
  }
  return result;
}

bool AuxChannel::Map(const ObservedEvent& event, OpenOutcome& outcome) {
  const long ring = ring_.Map(event.fd(), kRingPages);
  if (ring != 0) {
    outcome.Fail(capture::EngineStep::kMap, ring);
    return false;
  }
  const long area = MapArea(event);
  if (area != 0) {
    outcome.Fail(capture::EngineStep::kMapAux, area);
    ring_.Unmap();
    return false;
  }
  ledger::AddRing(nullptr);
  return true;
}

void AuxChannel::Decode(std::span<const uint8_t> bytes, uint64_t offset, const Origin& origin,
                        ObservedEvent& event, base::Vector<PendingSample>& batch) {
  const decode::SpeCpu spe_cpu = origin.cpus.Of(origin.cpu);
  decode::SpeRecordReader reader(bytes, offset);
  decode::SpeRecord record;
  while (reader.Next(record)) {
    event.NoteSample();
    if (record.damaged) continue;
    PendingSample& pending = batch.emplace_back(Pending(record, spe_cpu));
    pending.raw.cpu = origin.cpu;
    pending.in_ticks = record.timestamp != 0;
    pending.raw.time = pending.in_ticks ? record.timestamp : origin.time;
  }
  losses_.damaged += reader.counts().damaged + reader.counts().unfinished;
}

void AuxChannel::Take(std::span<const uint8_t> bytes, ObservedEvent& event, const SpeCpus& cpus,
                      base::Vector<PendingSample>& batch) {
  const auto record = decode::ParseRecord(bytes, event.layout());
  if (!record) {
    ++losses_.malformed;
    return;
  }
  if (record->kind == decode::RecordKind::kLost) event.NoteLost(record->count);
  if (record->kind == decode::RecordKind::kThrottle) event.NoteThrottle();
  if (record->kind != decode::RecordKind::kAux) return;
  const auto on_bytes = [&](std::span<const uint8_t> piece, uint64_t offset) {
    // What nobody announced may be of another CPU.
    const bool announced = record->has_trailer && offset == record->aux.offset;
    const uint32_t cpu = announced ? record->cpu : SpeCpus::kUnknownCpu;
    Decode(piece, offset, {cpus, cpu, record->time}, event, batch);
  };
  aux_.Read(record->aux, scratch_, on_bytes);
}

AuxLosses AuxChannel::Read(ObservedEvent& event, const SpeCpus& cpus,
                           base::Vector<PendingSample>& batch) {
  ring_.Drain([&](std::span<const uint8_t> bytes) { Take(bytes, event, cpus, batch); });
  if (aux_.TakeStopped()) Restart(event);
  event.NoteAux(aux_.counts());
  return std::exchange(losses_, {});
}

AuxLosses AuxChannel::ReadRest(ObservedEvent& event, const SpeCpus& cpus,
                               base::Vector<PendingSample>& batch) {
  const auto on_bytes = [&](std::span<const uint8_t> piece, uint64_t offset) {
    Decode(piece, offset, {cpus}, event, batch);
  };
  aux_.ReadRest(scratch_, on_bytes);
  return std::exchange(losses_, {});
}

}  // namespace memagent::runtime
