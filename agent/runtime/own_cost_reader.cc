#include "agent/runtime/own_cost_reader.h"

namespace memagent::runtime {

OwnCostInputs OwnCostReader::Read() const {
  OwnCostInputs inputs;
  inputs.meters = ledger::ReadCostMeters();
  inputs.nanos_per_tick = clock_.NanosPerTick();
  inputs.process_cpu_nanos = os::ProcessCpuNanos();
  inputs.drain_cpu_nanos = os::ThreadCpuNanos();
  inputs.start_cpu_nanos = control_.start_cpu_nanos.load(std::memory_order_relaxed);
  inputs.access_samples = pipeline_.samples_taken();
  inputs.fault_records = pipeline_.faults_taken();
  return inputs;
}

}  // namespace memagent::runtime
