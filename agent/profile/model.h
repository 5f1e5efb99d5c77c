// What can be written to a profile, as plain data: the input of ProfileWriter.
//
// Strings and spans are only borrowed for the call. Ids are the caller's and count from 1 (0:
// none); string ids are the writer's own business. Times are CLOCK_MONOTONIC nanoseconds unless
// they say otherwise. Field meanings: profile.proto.
#ifndef MEMAGENT_AGENT_PROFILE_MODEL_H_
#define MEMAGENT_AGENT_PROFILE_MODEL_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "agent/aggregate/access_kinds.h"
#include "agent/aggregate/accounting.h"
#include "agent/aggregate/code_fates.h"
#include "agent/base/reasons.h"
#include "agent/base/types.h"
#include "agent/profile/model_placement.h"

namespace memagent::profile {

struct ProcessData {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  std::string_view executable;
  std::span<const std::string_view> arguments;
  std::string_view working_directory;
  std::string_view host;
  bool forked_without_exec = false;
};

struct NodeData {
  uint32_t id = 0;
  std::string_view cpu_list;
  uint64_t memory_total_bytes = 0;
};

struct MachineData {
  std::string_view architecture;
  std::string_view cpu_model;
  uint32_t cpu_family = 0;
  uint32_t cpu_model_number = 0;
  uint32_t cpu_stepping = 0;
  std::string_view microcode;
  std::string_view hypervisor;
  uint32_t page_bytes = 0;
  uint32_t cache_line_bytes = 0;
  std::span<const NodeData> nodes;
  std::span<const uint32_t> distances;
  std::span<const int32_t> cpu_nodes;
};

struct KernelData {
  std::string_view release;
  int32_t perf_event_paranoid = 0;
  uint32_t max_sample_rate = 0;
  uint32_t mlock_kib = 0;
  std::string_view transparent_hugepage;
  int32_t numa_balancing = -1;
};

struct EngineData {
  EngineKind kind = EngineKind::kNone;
  bool in_use = false;
  std::string_view event;
  uint64_t period = 0;
  std::string_view period_unit;
  double rate_hz = 0;
  std::string_view exact_attr;
  bool knows_latency = false;
  bool knows_data_source = false;
  bool knows_loads_and_stores = false;
  std::string_view refused;
  int32_t refused_errno = 0;
  std::string_view remedy;
  uint32_t skid_ticks_on_next = 0;
  uint32_t skid_ticks_total = 0;
  uint64_t fault_period = 0;
};

struct HeaderData {
  std::string_view agent_version;
  uint64_t start_unix_nanos = 0;
  Nanos start_monotonic = 0;
  ProcessData process;
  MachineData machine;
  KernelData kernel;
  std::span<const EngineData> engines;
  std::string_view options;
  std::string_view imported_from;
};

struct ModuleData {
  std::string_view path;
  std::string_view build_id;  // raw bytes, empty when it has none
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t load_bias = 0;
  Nanos loaded = 0;
  Nanos unloaded = 0;
};

struct ModuleUnloadData {
  uint32_t module = 0;
  Nanos unloaded = 0;
};

struct ThreadData {
  Tid tid = 0;
  std::string_view name;
  Nanos started = 0;
  bool main = false;
};

struct FrameData {
  uint32_t module = 0;
  uint64_t address = 0;
  bool is_instruction = false;  // see Frame in reader.h
};

struct StackData {
  uint32_t parent = 0;
  uint32_t frame = 0;
};

struct SiteData {
  uint32_t id = 0;
  RegionKind kind = RegionKind::kUnknown;
  uint32_t stack = 0;
  std::string_view name;
  uint32_t module = 0;
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  bool stack_cut = false;
};

using AccountingData = aggregate::Accounting;

struct ThreadTotalData {
  uint32_t thread = 0;
  AccountingData accounting;
  uint64_t time_enabled_nanos = 0;
  uint64_t time_running_nanos = 0;
  uint64_t throttled = 0;
  std::span<const uint64_t> samples_by_node;
  Nanos ended = 0;
  std::string_view name;
  uint64_t unobserved_nanos = 0;
  std::string_view not_sampled;
  uint64_t node_changes = 0;
};

struct CellData {
  uint32_t thread = 0;
  NodeId cpu_node = NodeId::kUnknown;
  NodeId memory_node = NodeId::kUnknown;
  uint64_t samples = 0;
  aggregate::LatencySum latency = {};
  uint64_t stores = 0;
  uint64_t positions = 0;
};

struct CodeData {
  uint32_t frame = 0;
  uint64_t samples = 0;
  uint64_t remote_samples = 0;
  aggregate::LatencySum latency = {};
};

using AccessKindData = aggregate::AccessKind;

// One bucket of a latency histogram (aggregate/latency.h).
struct LatencyData {
  uint32_t floor_cycles = 0;
  uint64_t samples = 0;
};

struct FirstTouchData {
  uint32_t thread = 0;
  NodeId cpu_node = NodeId::kUnknown;
  uint32_t frame = 0;
  uint64_t pages = 0;
  uint64_t faults = 0;
  uint64_t positions = 0;
};

struct PagesData {
  NodeId node = NodeId::kUnknown;
  uint64_t count = 0;
};

// How far a site's counts are estimates, from blocks that were picked by chance.
struct SampledData {
  uint64_t picked_allocations = 0;  // 0: every block was tracked, the counts are exact
  uint64_t picked_frees = 0;
  double allocations_variance = 0;
  double frees_variance = 0;
  double bytes_allocated_variance = 0;
  double bytes_freed_variance = 0;
  double bytes_peak_variance = 0;
  double blocks_live_variance = 0;
  double bytes_live_variance = 0;
  bool any() const { return picked_allocations != 0 || blocks_live_variance != 0; }
};

struct SiteTotalData {
  uint32_t site = 0;
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t bytes_allocated = 0;
  uint64_t bytes_freed = 0;
  uint64_t bytes_peak = 0;
  uint64_t samples = 0;
  uint64_t evidence_exact = 0;
  uint64_t evidence_approximate = 0;
  uint64_t evidence_pc_only = 0;
  std::span<const CellData> cells;
  std::span<const CodeData> code;
  std::span<const FirstTouchData> first_touch;
  std::span<const PagesData> pages;
  uint64_t pages_not_present = 0;
  uint64_t inherited_blocks = 0;
  uint64_t inherited_bytes = 0;
  SampledData sampled = {};
  std::span<const AccessKindData> kinds = {};
  std::span<const LatencyData> latency = {};
  std::span<const StripData> strips = {};
  std::span<const SharingData> sharing = {};
  std::span<const PolicyData> policies = {};
  uint64_t pages_moved = 0;
  uint64_t huge_pages = 0;
  uint64_t huge_pages_asked = 0;
  uint64_t strip_samples_left_out = 0;
  uint64_t touched_pages_told = 0;
  uint64_t touched_pages_huge = 0;
};

// What was left out by order, to make the profile cheaper.
struct EconomyData {
  uint64_t sample_bytes = 1;  // in force now; 1: every block is tracked
  uint64_t largest_sample_bytes = 1;
  double budget_share = 0;  // of the program's CPU time; 0: none was set
  double overhead_share = 0;
  uint64_t budget_steps = 0;
  uint64_t period_factor = 1;  // of the access event's period, now
  uint64_t largest_period_factor = 1;
  uint64_t samples_taken = 0;  // with a sample of a longer period counted once
  uint64_t sample_weight_squares = 0;
  bool any() const { return largest_sample_bytes > 1 || budget_share > 0; }
};

// The values of CostPart.Basis.
enum class CostBasis : uint8_t { kNone, kSampled, kCounted, kTried, kAssumed, kInferred };

struct CostPartData {
  std::string_view what;
  std::string_view inside;
  CostBasis basis = CostBasis::kNone;
  uint64_t count = 0;
  uint64_t samples = 0;
  uint64_t mean_picos = 0;
  uint64_t total_nanos = 0;
  uint64_t error_nanos = 0;
};

struct HeldMemoryData {
  std::string_view what;
  uint64_t mapped_bytes = 0;
  uint64_t resident_bytes = 0;
};

struct OwnCostData {
  uint64_t drain_cpu_nanos = 0;
  uint64_t bytes_mapped = 0;
  uint64_t allocations_tracked = 0;
  uint64_t live_blocks = 0;
  uint64_t stacks = 0;
  uint64_t stack_cache_hits = 0;
  uint64_t stack_cache_misses = 0;
  uint64_t checkpoints = 0;
  uint64_t checkpoint_nanos = 0;
  std::string_view page_node_rung;
  uint64_t clock_error_nanos = 0;
  uint64_t profile_bytes = 0;
  uint64_t profile_rewrites = 0;
  uint64_t process_cpu_nanos = 0;
  uint64_t estimated_nanos = 0;
  uint64_t estimated_error_nanos = 0;
  std::span<const CostPartData> parts;
  std::span<const HeldMemoryData> held;
};

struct EventTotalData {
  std::string_view event;
  std::string_view exact_attr;
  std::string_view loss;
  uint64_t threads = 0;
  uint64_t enabled_nanos = 0;
  uint64_t running_nanos = 0;
  uint64_t occurrences = 0;
  uint64_t samples = 0;
  uint64_t lost = 0;
  uint64_t throttled = 0;
};

// What became of the sampled instructions of one frame.
struct CodeFateData {
  uint32_t frame = 0;
  aggregate::FateCounts counts;
};

// What came of a placement rule.
struct AppliedPlacementData {
  std::string_view rule;
  std::string_view sites;
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  uint64_t too_small_blocks = 0;
  uint64_t refused_calls = 0;
  int32_t refused_errno = 0;
  std::span<const uint32_t> site_ids;
  uint64_t over_limit_blocks = 0;
  uint64_t moved_blocks = 0;
  uint64_t freed_blocks = 0;
  uint64_t sites_matched = 0;
  uint64_t uncut_mappings = 0;
  uint64_t overruled_calls = 0;
};

struct RawSampleData {
  Nanos time = 0;
  uint64_t ip = 0;
  uint64_t address = 0;
  uint32_t thread = 0;
  uint32_t cpu = 0;
  uint32_t site = 0;
  Evidence evidence = Evidence::kNone;
  NodeId memory_node = NodeId::kUnknown;
  uint32_t latency_cycles = 0;
  uint64_t data_src = 0;
};

enum class Severity : uint8_t { kInfo = 0, kWarning = 1, kError = 2 };

struct EventData {
  Nanos time = 0;
  Severity severity = Severity::kInfo;
  std::string_view code;  // snake_case
  std::string_view text;  // one sentence, cause and remedy
};

struct SymbolData {
  uint32_t frame = 0;
  std::string_view function;  // mangled; empty: no symbol
  uint64_t offset = 0;
};

struct FooterData {
  Nanos ended = 0;
  std::string_view how;
};

}  // namespace memagent::profile

#endif  // MEMAGENT_AGENT_PROFILE_MODEL_H_
