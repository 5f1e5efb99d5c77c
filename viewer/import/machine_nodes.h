// Which node a CPU and a physical address of the recorded machine belong to. Pure.
#ifndef MEMAGENT_VIEWER_IMPORT_MACHINE_NODES_H_
#define MEMAGENT_VIEWER_IMPORT_MACHINE_NODES_H_

#include <cstdint>
#include <vector>

#include "agent/base/types.h"
#include "viewer/import/perf_data_file.h"

namespace memagent::importer {

class MachineNodes {
 public:
  static constexpr uint32_t kMostNodes = 1024;  // of any kernel: CONFIG_NODES_SHIFT is at most 10

  explicit MachineNodes(const PerfMachine& machine);

  NodeId OfCpu(uint32_t cpu) const;
  // kUnknown for address 0, and where the file does not tell which memory is whose.
  NodeId OfPhysical(uint64_t address) const;
  const std::vector<int32_t>& cpu_nodes() const { return cpu_nodes_; }  // by CPU, -1: unknown
  bool knows_memory() const { return block_bytes_ != 0; }

 private:
  std::vector<int32_t> cpu_nodes_;
  uint64_t block_bytes_ = 0;
  std::vector<PerfNodeMemory> memory_;
};

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_MACHINE_NODES_H_
