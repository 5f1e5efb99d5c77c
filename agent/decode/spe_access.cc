#include "agent/decode/spe_access.h"

namespace memagent::decode {

// An atomic operation loads and stores: the record says both, its data source one.
HardwareAccess SpeAccess(const SpeRecord& record, const SpeCpu& cpu) {
  HardwareAccess hardware;
  Access& access = hardware.access;
  access.ip = record.pc;
  access.is_load = record.is_load;
  access.is_store = record.is_store;
  hardware.source = SpeDataSource(record, cpu);
  hardware.latency_cycles = record.total_latency.value_or(0);
  if (!record.is_load && !record.is_store) {
    hardware.why = UnattributedReason::kNotMemory;
    return hardware;  // evidence kNone
  }
  access.evidence = Evidence::kPcOnly;
  if (record.exception_level != 0 || record.virtual_address >> 63 != 0) {
    hardware.why = UnattributedReason::kKernelAddress;
  } else if (record.virtual_address == 0) {
    hardware.why = UnattributedReason::kAddressUnknown;
  } else {
    access.evidence = Evidence::kExact;
    access.address = record.virtual_address;
  }
  return hardware;
}

}  // namespace memagent::decode
