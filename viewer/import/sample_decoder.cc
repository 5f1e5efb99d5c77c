#include "viewer/import/sample_decoder.h"

#include "agent/decode/perf_record.h"
#include "viewer/import/event_table.h"
#include "viewer/import/perf_format.h"

namespace memagent::importer {
namespace {

using decode::RawSample;

decode::HardwareAccess FaultAccess(const RawSample& raw) {
  decode::HardwareAccess fault;
  // The instruction that faults is the one that is interrupted.
  fault.access.ip = raw.ip;
  fault.access.address = raw.address;
  fault.access.evidence = raw.address >> 63 == 0 ? Evidence::kExact : Evidence::kPcOnly;
  fault.why = UnattributedReason::kKernelAddress;
  return fault;
}

}  // namespace

std::optional<ImportedSample> DecodeSample(const RawRecord& record, const PerfEvent& event,
                                           const EventRole& role,
                                           const decode::IbsProcessor& processor) {
  const auto parsed = decode::ParseRecord(record.bytes, LayoutOf(event.attr));
  if (!parsed || parsed->kind != decode::RecordKind::kSample) return std::nullopt;
  const RawSample& raw = parsed->sample;
  ImportedSample sample;
  sample.time = raw.time;
  sample.pid = raw.pid;
  sample.tid = (event.attr.sample_type & PERF_SAMPLE_TID) != 0 ? raw.tid : -1;
  if ((event.attr.sample_type & PERF_SAMPLE_CPU) != 0) sample.cpu = raw.cpu;
  sample.guest = IsGuest(record.misc);
  sample.physical_address = raw.physical_address;
  if (role.use == EventUse::kFault) {
    sample.hardware = FaultAccess(raw);
    return sample;
  }
  sample.hardware = decode::DecodeHardware(role.engine, raw, processor);
  sample.data_source = raw.data_src;
  // A payload of a version that we don't know.
  const bool refused = role.engine == EngineKind::kProfileMe && !sample.hardware.fate;
  return refused ? std::nullopt : std::optional(sample);
}

}  // namespace memagent::importer
