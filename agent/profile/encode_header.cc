// The header: how a profile was made.
#include "agent/profile/encode.h"
#include "agent/profile/encode_fields.h"
#include "agent/profile/fields.h"
#include "agent/profile/writer.h"

namespace memagent::profile {
namespace {

void EncodeProcess(MessageWriter& out, const ProcessData& process) {
  using F = field::Process;
  PutUint(out, F::kPid, process.pid);
  PutUint(out, F::kParentPid, process.parent_pid);
  PutText(out, F::kExecutable, process.executable);
  for (const std::string_view argument : process.arguments) {
    out.add_bytes(F::kArguments, argument.data(), argument.size());  // also an empty one
  }
  PutText(out, F::kWorkingDirectory, process.working_directory);
  PutText(out, F::kHost, process.host);
  PutBool(out, F::kForkedWithoutExec, process.forked_without_exec);
}

void EncodeNode(MessageWriter& out, const NodeData& node) {
  using F = field::Node;
  out.add_uint32(F::kId, node.id);  // node 0 too: an empty message would vanish
  PutText(out, F::kCpuList, node.cpu_list);
  PutUint(out, F::kMemoryTotalBytes, node.memory_total_bytes);
}

void EncodeMachine(MessageWriter& out, const MachineData& machine) {
  using F = field::Machine;
  PutText(out, F::kArchitecture, machine.architecture);
  PutText(out, F::kCpuModel, machine.cpu_model);
  PutUint(out, F::kCpuFamily, machine.cpu_family);
  PutUint(out, F::kCpuModelNumber, machine.cpu_model_number);
  PutUint(out, F::kCpuStepping, machine.cpu_stepping);
  PutText(out, F::kMicrocode, machine.microcode);
  PutText(out, F::kHypervisor, machine.hypervisor);
  PutUint(out, F::kPageBytes, machine.page_bytes);
  PutUint(out, F::kCacheLineBytes, machine.cache_line_bytes);
  for (const NodeData& node : machine.nodes) {
    MessageWriter message(out, F::kNodes);
    EncodeNode(message, node);
  }
  PutUintColumn(out, F::kDistances, machine.distances, [](uint32_t d) { return d; });
  PutSintColumn(out, F::kCpuNodes, machine.cpu_nodes, [](int32_t node) { return node; });
}

void EncodeKernel(MessageWriter& out, const KernelData& kernel) {
  using F = field::Kernel;
  PutText(out, F::kRelease, kernel.release);
  PutSint(out, F::kPerfEventParanoid, kernel.perf_event_paranoid);
  PutUint(out, F::kMaxSampleRate, kernel.max_sample_rate);
  PutUint(out, F::kMlockKib, kernel.mlock_kib);
  PutText(out, F::kTransparentHugepage, kernel.transparent_hugepage);
  PutSint(out, F::kNumaBalancing, kernel.numa_balancing);
}

void EncodeEngine(MessageWriter& out, const EngineData& engine) {
  using F = field::Engine;
  out.add_enum(F::kKind, static_cast<int32_t>(engine.kind));  // NONE too, see EncodeNode
  PutBool(out, F::kInUse, engine.in_use);
  PutText(out, F::kEvent, engine.event);
  PutUint(out, F::kPeriod, engine.period);
  PutText(out, F::kPeriodUnit, engine.period_unit);
  PutDouble(out, F::kRateHz, engine.rate_hz);
  PutText(out, F::kExactAttr, engine.exact_attr);
  PutBool(out, F::kKnowsLatency, engine.knows_latency);
  PutBool(out, F::kKnowsDataSource, engine.knows_data_source);
  PutBool(out, F::kKnowsLoadsAndStores, engine.knows_loads_and_stores);
  PutText(out, F::kRefused, engine.refused);
  PutSint(out, F::kRefusedErrno, engine.refused_errno);
  PutText(out, F::kRemedy, engine.remedy);
  PutUint(out, F::kSkidTicksOnNext, engine.skid_ticks_on_next);
  PutUint(out, F::kSkidTicksTotal, engine.skid_ticks_total);
  PutUint(out, F::kFaultPeriod, engine.fault_period);
}

}  // namespace

void EncodeHeader(MessageWriter& out, const HeaderData& header) {
  using F = field::Header;
  PutFixed(out, F::kMagic, kFormatMagic);
  PutUint(out, F::kFormatMajor, kFormatMajor);
  PutUint(out, F::kFormatMinor, kFormatMinor);
  PutText(out, F::kAgentVersion, header.agent_version);
  PutFixed(out, F::kStartUnixNanos, header.start_unix_nanos);
  PutFixed(out, F::kStartMonotonicNanos, header.start_monotonic);
  {
    MessageWriter process(out, F::kProcess);
    EncodeProcess(process, header.process);
  }
  {
    MessageWriter machine(out, F::kMachine);
    EncodeMachine(machine, header.machine);
  }
  {
    MessageWriter kernel(out, F::kKernel);
    EncodeKernel(kernel, header.kernel);
  }
  for (const EngineData& engine : header.engines) {
    MessageWriter message(out, F::kEngines);
    EncodeEngine(message, engine);
  }
  PutText(out, F::kOptions, header.options);
  PutText(out, F::kImportedFrom, header.imported_from);
}

}  // namespace memagent::profile
