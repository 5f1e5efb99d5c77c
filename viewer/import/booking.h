// Books the samples of a recording, in the order of their times: on sites, threads and code, with
// every sample accounted for.
#ifndef MEMAGENT_VIEWER_IMPORT_BOOKING_H_
#define MEMAGENT_VIEWER_IMPORT_BOOKING_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "agent/aggregate/aggregator.h"
#include "agent/decode/hardware_access.h"
#include "viewer/import/logged_blocks.h"
#include "viewer/import/machine_nodes.h"
#include "viewer/import/places.h"
#include "viewer/import/world.h"

namespace memagent::importer {

struct ImportedSample {
  uint64_t time = 0;
  int32_t pid = 0;
  int32_t tid = 0;
  uint32_t cpu = kNoCpu;
  bool guest = false;  // of a virtual machine's guest
  decode::HardwareAccess hardware;
  uint64_t physical_address = 0;  // 0: not told
  uint64_t data_source = 0;       // perf_mem_data_src, for the samples that are kept
};

class Booking {
 public:
  // `blocks` may be advanced between calls.
  Booking(World& world, Modules& modules, const MachineNodes& nodes, const LoggedBlocks& blocks,
          uint64_t kept_samples);

  void BookSample(const ImportedSample& sample);
  void BookFault(const ImportedSample& fault, double pages);
  // Of no thread that is known.
  void Drop(DropReason reason, uint64_t count);

  aggregate::Aggregator& aggregator() { return aggregator_; }
  const aggregate::Reservoir& kept() const { return kept_; }
  const Places& places() const { return places_; }
  Places& places() { return places_; }
  const LoggedBlocks& blocks() const { return blocks_; }
  // Of blocks that an allocation log calls so, by its index there.
  uint32_t SiteOfBlocks(uint32_t name);
  // World's threads that have samples: serial - 1 is the index here. Serial 0: thread unknown.
  const std::vector<uint32_t>& threads() const { return threads_; }
  // Of the first and the last sample; 0 when there is none.
  uint64_t first_time() const { return first_time_; }
  uint64_t last_time() const { return last_time_; }
  // Samples of memory accesses; of those, the ones that don't tell their CPU; and instructions
  // whose fate is all that is known.
  uint64_t accesses() const { return accesses_; }
  uint64_t without_cpu() const { return without_cpu_; }
  uint64_t fates() const { return fates_; }

 private:
  uint32_t SerialOf(const ImportedSample& sample);
  attribute::Attribution AttributionOf(const ImportedSample& sample);
  aggregate::ResolvedSample Resolve(const ImportedSample& sample);

  World& world_;
  const MachineNodes& nodes_;
  const LoggedBlocks& blocks_;
  Places places_;
  aggregate::Aggregator aggregator_;
  aggregate::Reservoir kept_;
  std::unordered_map<uint32_t, uint32_t> serials_;  // by the world's index
  std::vector<uint32_t> threads_;
  uint64_t first_time_ = 0;
  uint64_t last_time_ = 0;
  uint64_t accesses_ = 0;
  uint64_t without_cpu_ = 0;
  uint64_t fates_ = 0;
};

}  // namespace memagent::importer

#endif  // MEMAGENT_VIEWER_IMPORT_BOOKING_H_
