// A synthetic profile: what a stencil program might leave behind.
#ifndef MEMAGENT_TESTS_SUPPORT_STENCIL_PROFILE_H_
#define MEMAGENT_TESTS_SUPPORT_STENCIL_PROFILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/profile_builder.h"

namespace memagent::tests {

inline void FillHeader(ProfileBuilder& builder, int nodes) {
  v1::Header& header = builder.header();
  header.set_start_unix_nanos(1'700'000'000'000'000'000);
  header.set_start_monotonic_nanos(1'000'000'000);
  v1::Process& process = *header.mutable_process();
  process.set_pid(4711);
  process.set_parent_pid(4000);
  process.set_executable("/opt/demo/stencil");
  for (const char* word : {"./stencil", "4096", "-t", "4"}) process.add_arguments(word);
  process.set_working_directory("/opt/demo");
  process.set_host("numa1");
  v1::Machine& machine = *header.mutable_machine();
  machine.set_architecture("x86_64");
  machine.set_cpu_model("AMD EPYC 7B13");
  machine.set_cpu_family(25);
  machine.set_cpu_model_number(1);
  machine.set_page_bytes(4096);
  machine.set_hypervisor("KVM");
  for (int i = 0; i < nodes; ++i) {
    v1::Node& node = *machine.add_nodes();
    node.set_id(static_cast<uint32_t>(i));
    node.set_cpu_list(i == 0 ? "0-1" : "2-3");
    node.set_memory_total_bytes(uint64_t{8} << 30);
    for (int j = 0; j < nodes; ++j) machine.add_distances(i == j ? 10 : 21);
  }
  v1::Kernel& kernel = *header.mutable_kernel();
  kernel.set_release("6.1.0");
  kernel.set_perf_event_paranoid(2);
  kernel.set_transparent_hugepage("madvise");
  kernel.set_numa_balancing(-1);
  v1::Engine& refused = *header.add_engines();
  refused.set_kind(v1::Engine::IBS);
  refused.set_refused("The kernel offers no ibs_op PMU.");
  refused.set_refused_errno(2);
  refused.set_remedy("Use a machine with AMD IBS, not a virtual one.");
  v1::Engine& engine = *header.add_engines();
  engine.set_kind(v1::Engine::SOFTWARE);
  engine.set_in_use(true);
  engine.set_event("software/cpu-clock");
  engine.set_period(1'000'000);
  engine.set_period_unit("ns");
  engine.set_rate_hz(1000);
  engine.set_exact_attr("type=1 config=0 sample_period=1000000");
  engine.set_skid_ticks_on_next(200);
  engine.set_skid_ticks_total(200);
  engine.set_fault_period(1);
  header.set_options("engine=auto,rate=1000");
}

inline void AddReason(v1::ReasonCount& row, std::string_view reason, uint64_t count) {
  row.set_reason(std::string(reason));
  row.set_count(count);
}

inline void SetEvidence(v1::SiteTotal& total, uint64_t exact, uint64_t approximate,
                        uint64_t pc_only) {
  total.set_samples(exact + approximate + pc_only);
  total.set_evidence_exact(exact);
  total.set_evidence_approximate(approximate);
  total.set_evidence_pc_only(pc_only);
}

inline void SetMemory(v1::SiteTotal& total, uint64_t allocations, uint64_t frees,
                      uint64_t allocated, uint64_t freed, uint64_t peak) {
  total.set_allocations(allocations);
  total.set_frees(frees);
  total.set_bytes_allocated(allocated);
  total.set_bytes_freed(freed);
  total.set_bytes_peak(peak);
}

inline void AddUse(v1::SiteTotal& total, uint32_t thread, int cpu_node, int memory_node,
                   uint64_t samples) {
  total.add_cell_thread(thread);
  total.add_cell_cpu_node(cpu_node);
  total.add_cell_memory_node(memory_node);
  total.add_cell_samples(samples);
}

inline void AddCode(v1::SiteTotal& total, uint32_t frame, uint64_t samples, uint64_t remote) {
  total.add_code_frame(frame);
  total.add_code_samples(samples);
  total.add_code_remote_samples(remote);
}

inline void AddTouch(v1::SiteTotal& total, uint32_t thread, int node, uint32_t frame,
                     uint64_t pages, uint64_t faults) {
  v1::FirstTouch& touch = *total.add_first_touch();
  touch.set_thread(thread);
  touch.set_cpu_node(node);
  touch.set_frame(frame);
  touch.set_pages(pages);
  touch.set_faults(faults);
}

inline void AddPages(v1::SiteTotal& total, int node, uint64_t pages) {
  total.add_page_node(node);
  total.add_page_count(pages);
}

inline void FillThreads(ProfileBuilder& builder, const std::vector<uint64_t>& attributed) {
  for (size_t i = 0; i < attributed.size(); ++i) {
    v1::ThreadTotal& total = builder.ThreadTotal(static_cast<uint32_t>(i + 1));
    v1::Accounting& accounting = *total.mutable_accounting();
    accounting.set_samples_seen(attributed[i] + 100);
    accounting.set_attributed(attributed[i]);
    AddReason(*accounting.add_unattributed(), "not_memory", 100);
    total.set_time_enabled_nanos(4'000'000'000);
    total.set_time_running_nanos(4'000'000'000);
  }
}

inline void AddSharing(v1::SiteTotal& total, uint64_t unit_bytes, uint64_t pairs,
                       uint64_t same_thread, uint64_t same_node) {
  v1::Sharing& sharing = *total.add_sharing();
  sharing.set_unit_bytes(unit_bytes);
  sharing.set_pairs(pairs);
  sharing.set_same_thread(same_thread);
  sharing.set_same_node(same_node);
}

// Each thread uses its own quarter of the grid; all of it lies on node 0.
inline void FillParts(v1::SiteTotal& grid) {
  for (uint32_t i = 0; i < 64; ++i) {
    grid.add_strip_position(i);
    grid.add_strip_cpu_node(i < 32 ? 0 : 1);
    grid.add_strip_memory_node(0);
    grid.add_strip_samples(i % 4 == 0 ? 107 : 106);
  }
  AddSharing(grid, 4096, 1200, 1180, 1194);
  AddSharing(grid, 2 << 20, 5200, 5100, 5180);
  AddSharing(grid, 0, 6799, 1700, 3400);
}

inline void AddCostPart(memagent::v1::OwnCost& cost, const char* what, const char* inside,
                        memagent::v1::CostPart::Basis basis, uint64_t count, uint64_t picos,
                        uint64_t samples) {
  auto& part = *cost.add_part();
  part.set_what(what);
  part.set_inside(inside);
  part.set_basis(basis);
  part.set_count(count);
  part.set_mean_picos(picos);
  part.set_total_nanos(count * picos / 1000);
  part.set_samples(samples);
  if (samples > 0) part.set_error_nanos(part.total_nanos() / 50);
}

inline void FillOwnCost(memagent::v1::OwnCost& cost) {
  using Part = memagent::v1::CostPart;
  cost.set_drain_cpu_nanos(12'000'000);
  cost.set_page_node_rung("move_pages");
  cost.set_process_cpu_nanos(4'060'000'000);
  AddCostPart(cost, "allocation", "", Part::SAMPLED, 412'345, 58'300, 402);
  AddCostPart(cost, "free", "", Part::SAMPLED, 412'000, 21'100, 398);
  AddCostPart(cost, "access_sample", "", Part::TRIED, 9'962, 1'510'000, 0);
  AddCostPart(cost, "fault_record", "", Part::ASSUMED, 1'000, 700'000, 0);
  AddCostPart(cost, "drain", "", Part::COUNTED, 1, 12'000'000'000, 0);
  AddCostPart(cost, "stack_look_up", "allocation", Part::SAMPLED, 412'345, 30'200, 101);
  uint64_t sum = 0;
  for (const Part& part : cost.part()) sum += part.inside().empty() ? part.total_nanos() : 0;
  cost.set_estimated_nanos(sum);
  cost.set_estimated_error_nanos(700'000);
  auto& held = *cost.add_held();
  held.set_what("index");
  held.set_mapped_bytes(32 << 20);
  held.set_resident_bytes(2 << 20);
}

// What hardware told of a site: `samples` accesses of one kind that took `cycles` each.
inline void AddKind(v1::SiteTotal& total, v1::AccessKind::Op op, v1::AccessKind::Level level,
                    v1::AccessKind::Locality locality, v1::AccessKind::Page page, uint64_t samples,
                    uint64_t cycles) {
  v1::AccessKind& kind = *total.add_kind();
  kind.set_op(op);
  kind.set_level(level);
  kind.set_locality(locality);
  kind.set_page(page);
  kind.set_samples(samples);
  if (cycles == 0) return;
  kind.set_latency_samples(samples);
  kind.set_latency_cycles(samples * cycles);
  total.add_latency_floor_cycles(static_cast<uint32_t>(cycles));
  total.add_latency_samples(samples);
}

// The grid's far half is slow, the cells come from near; one page was moved while it was read.
inline void FillHardware(ProfileBuilder& b, v1::SiteTotal& grid, v1::SiteTotal& cells) {
  using Kind = v1::AccessKind;
  v1::Engine& ibs = *b.header().mutable_engines(0);
  ibs.set_in_use(true);
  ibs.set_event("ibs_op/cnt_ctl=1,swfilt=1/");
  ibs.set_period(640'000);
  ibs.set_period_unit("ops");
  ibs.set_knows_latency(true);
  ibs.set_knows_data_source(true);
  ibs.set_knows_loads_and_stores(true);
  ibs.clear_refused();
  ibs.clear_refused_errno();
  ibs.clear_remedy();
  b.header().mutable_engines(1)->set_in_use(false);
  AddKind(grid, Kind::LOAD, Kind::DRAM, Kind::OTHER_NODE, Kind::PAGE_OTHER_NODE, 3380, 320);
  AddKind(grid, Kind::LOAD, Kind::DRAM, Kind::SAME_NODE, Kind::PAGE_SAME_NODE, 2500, 112);
  AddKind(grid, Kind::LOAD, Kind::DRAM, Kind::SAME_NODE, Kind::PAGE_OTHER_NODE, 20, 112);
  AddKind(grid, Kind::STORE, Kind::L1, Kind::SAME_CORE, Kind::PAGE_SAME_NODE, 900, 0);
  AddKind(cells, Kind::LOAD, Kind::L3, Kind::SAME_NODE, Kind::PAGE_SAME_NODE, 1800, 48);
  AddKind(cells, Kind::LOAD, Kind::DRAM, Kind::SAME_NODE, Kind::PAGE_SAME_NODE, 200, 112);
  v1::EventTotal& event = *b.totals().add_event();
  event.set_event(ibs.event());
  event.set_threads(4);
  event.set_enabled_nanos(16'000'000'000);
  event.set_running_nanos(16'000'000'000);
  event.set_samples(9962);
  event.set_lost(3);
}

// The stencil on `nodes` nodes: one thread fills the grid, four use it.
inline std::string StencilBytes(int nodes, bool hardware = false) {
  ProfileBuilder b;
  FillHeader(b, nodes);
  const uint32_t app = b.Module("/opt/demo/stencil");
  const uint32_t libc = b.Module("/usr/lib/libc.so.6");
  std::vector<uint32_t> threads = {b.Thread(4711, "stencil", true)};
  for (int i = 1; i < 4; ++i) threads.push_back(b.Thread(4711 + i, "worker-" + std::to_string(i)));
  const uint32_t new_array = b.Frame(libc, 0x100, "_Znam");
  const uint32_t grid = b.Frame(app, 0x1234, "_ZN4GridIdEC1Ei");
  const uint32_t main = b.Frame(app, 0x2000, "main");
  const uint32_t reserve = b.Frame(app, 0x3000, "_ZNSt6vectorIiSaIiEE7reserveEm");
  const uint32_t read = b.Frame(app, 0x3100, "read_cells");
  const uint32_t sweep = b.Instruction(app, 0x4010, "_ZN4GridIdE5sweepERKS0_");
  const uint32_t norm = b.Instruction(app, 0x4100, "_ZNK4GridIdE4normEv");
  const uint32_t fill = b.Instruction(app, 0x4200, "_ZN4GridIdE4fillEd");

  const v1::Site& s1 = b.Site(v1::HEAP, b.Stack({new_array, grid, main}));
  v1::SiteTotal& t1 = b.SiteTotal(s1);
  SetMemory(t1, 1, 0, uint64_t{4} << 30, 0, uint64_t{4} << 30);
  SetEvidence(t1, 6000, 600, 200);
  for (int i = 0; i < 4; ++i) AddUse(t1, threads[i], nodes > 1 ? i / 2 : 0, 0, 1700);
  AddCode(t1, sweep, 6120, nodes > 1 ? 3060 : 0);
  AddCode(t1, norm, 680, nodes > 1 ? 340 : 0);
  AddTouch(t1, threads[0], 0, fill, 1'048'576, 4096);
  AddPages(t1, 0, 1'044'480);
  if (nodes > 1) AddPages(t1, 1, 4096);
  if (nodes > 1) FillParts(t1);

  const v1::Site& s2 = b.Site(v1::HEAP, b.Stack({new_array, reserve, read, main}));
  v1::SiteTotal& t2 = b.SiteTotal(s2);
  SetMemory(t2, 12'345, 12'000, 512u << 20, 256u << 20, 300u << 20);
  SetEvidence(t2, 1900, 80, 20);
  AddUse(t2, threads[0], 0, 0, 1500);
  AddUse(t2, threads[1], nodes - 1, nodes - 1, 500);
  AddCode(t2, b.Instruction(app, 0x3200, "read_cells"), 2000, 0);
  AddTouch(t2, threads[0], 0, b.Instruction(libc, 0x900, "memcpy"), 76'800, 76'800);

  v1::Site& s3 = b.Site(v1::GLOBAL, 0, "g_table");
  s3.set_size_bytes(8192);
  SetEvidence(b.SiteTotal(s3), 150, 0, 0);
  AddUse(b.SiteTotal(s3), threads[2], nodes - 1, -1, 150);
  const v1::Site& s4 = b.Site(v1::STACK, 0, "worker-3");
  SetEvidence(b.SiteTotal(s4), 12, 0, 0);
  AddUse(b.SiteTotal(s4), threads[3], nodes - 1, nodes - 1, 12);
  for (int i = 0; i < 9; ++i) {
    const uint32_t small = b.Frame(app, 0x5000 + 16u * static_cast<uint32_t>(i), "make_node");
    SetMemory(b.SiteTotal(b.Site(v1::HEAP, b.Stack({small, main}))), 10, 5, 640, 320, 320);
  }

  if (hardware) FillHardware(b, t1, t2);

  v1::Accounting& all = *b.totals().mutable_accounting();
  all.set_samples_seen(9962);
  all.set_attributed(8962);
  AddReason(*all.add_unattributed(), "not_memory", 400);
  AddReason(*all.add_unattributed(), "address_unknown", 520);
  AddReason(*all.add_unattributed(), "unallocated", 77);
  AddReason(*all.add_dropped(), "ring_lost", 3);
  all.set_evidence_exact(8062 + 77);
  all.set_evidence_approximate(680);
  all.set_evidence_pc_only(220 + 520);
  all.set_evidence_none(400);
  all.set_faults_seen(80'896);
  all.set_faults_attributed(80'896);
  FillThreads(b, {3200, 2200, 1850, 1712});
  b.totals().set_time(5'000'000'000);
  b.totals().set_final(true);
  FillOwnCost(*b.totals().mutable_own_cost());
  b.footer().set_ended(5'120'000'000);
  b.footer().set_how("exit");
  return b.Bytes();
}

}  // namespace memagent::tests

#endif  // MEMAGENT_TESTS_SUPPORT_STENCIL_PROFILE_H_
