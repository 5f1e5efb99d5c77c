#include "agent/decode/hardware_access.h"

#include <algorithm>

#include "agent/decode/data_source.h"

namespace memagent::decode {
namespace {

// Addresses with the highest bit are the kernel's; kernels before 6.14 let IBS samples of a user's
// event show them (facts: perf_abi 2.4).
bool IsKernelAddress(uint64_t address) { return address >> 63 != 0; }

// Weights are 32 bits or less in every engine; a 64-bit one is a transaction's, not a latency.
uint32_t LatencyOf(const RawSample& sample) {
  return static_cast<uint32_t>(std::min<uint64_t>(sample.weight, UINT32_MAX));
}

bool IsMemory(const DataSource& source) {
  return source.op == MemoryOp::kLoad || source.op == MemoryOp::kStore ||
         source.op == MemoryOp::kPrefetch;
}

void BookAddress(const RawSample& sample, HardwareAccess& hardware) {
  Access& access = hardware.access;
  if (!IsMemory(hardware.source)) {
    hardware.why = UnattributedReason::kNotMemory;
    return;  // evidence kNone
  }
  access.is_load = hardware.source.op != MemoryOp::kStore;
  access.is_store = hardware.source.op == MemoryOp::kStore;
  if (IsKernelAddress(sample.address) || IsKernelAddress(sample.ip)) {
    access.evidence = Evidence::kPcOnly;
    hardware.why = UnattributedReason::kKernelAddress;
  } else if (sample.address == 0) {
    access.evidence = Evidence::kPcOnly;
    hardware.why = UnattributedReason::kAddressUnknown;
  } else {
    access.evidence = Evidence::kExact;
    access.address = sample.address;
  }
}

// No data address, and not always an access: nothing but code and fate is known. In PALmode the
// payload's pc is a physical address, and the sample's own where the interrupt came.
HardwareAccess DecodeFate(const RawSample& sample) {
  HardwareAccess hardware;
  ProfileMeCounts counts;
  hardware.fate = ParseProfileMe(sample.raw, counts);
  hardware.access.evidence = Evidence::kPcOnly;
  hardware.access.ip = hardware.fate ? hardware.fate->pc.value_or(0) : 0;
  hardware.why = UnattributedReason::kNoDataAddress;
  return hardware;
}

}  // namespace

HardwareAccess DecodeHardware(EngineKind engine, const RawSample& sample,
                              const IbsProcessor& processor) {
  if (engine == EngineKind::kProfileMe) return DecodeFate(sample);
  HardwareAccess hardware;
  // Without the mark, the address is where the interrupt came: somewhere behind the access.
  hardware.access.ip = sample.exact_ip ? sample.ip : 0;
  hardware.source = DecodeDataSource(sample.data_src);
  hardware.latency_cycles = LatencyOf(sample);
  hardware.instruction_cycles = sample.weight2;
  hardware.page_bytes = sample.page_bytes;
  if (engine == EngineKind::kIbs) {
    if (const auto op = ParseIbsOp(sample.raw, processor)) {
      hardware.source = DecodeIbsOp(*op, processor);
      hardware.access.size_bytes = op->width_bytes;
      hardware.latency_cycles = op->miss_cycles;  // the kernel's weight is a prefetch's, too
      hardware.instruction_cycles = op->tag_to_retire_cycles;
      hardware.tlb_refill_cycles = op->tlb_refill_cycles;
      if (op->tlb_page_bytes != 0) hardware.page_bytes = op->tlb_page_bytes;
    }
  }
  BookAddress(sample, hardware);
  return hardware;
}

}  // namespace memagent::decode
