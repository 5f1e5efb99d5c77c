// Tally and the words of view.h.
#include <algorithm>
#include <iterator>
#include <numeric>

#include "agent/base/reasons.h"
#include "viewer/view.h"

namespace memagent::viewer {
namespace {

uint64_t Sum(const std::vector<ReasonCount>& reasons) {
  return std::accumulate(reasons.begin(), reasons.end(), uint64_t{0},
                         [](uint64_t sum, const ReasonCount& r) { return sum + r.count; });
}

uint64_t CountOf(const std::vector<ReasonCount>& reasons, std::string_view name) {
  const auto found = std::find_if(reasons.begin(), reasons.end(),
                                  [&](const ReasonCount& reason) { return reason.name == name; });
  return found == reasons.end() ? 0 : found->count;
}

uint64_t Minus(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

}  // namespace

uint64_t Tally::Unattributed() const { return Sum(unattributed); }
uint64_t Tally::Dropped() const { return Sum(dropped); }

uint64_t Tally::NotMemory() const {
  return CountOf(unattributed, Info(UnattributedReason::kNotMemory).name);
}
uint64_t Tally::InAgent() const { return CountOf(dropped, Info(DropReason::kAgentCode).name); }

// Built from the parts, so that it stays sensible when a damaged file does not balance.
uint64_t Tally::MemorySamples() const { return attributed + Minus(Unattributed(), NotMemory()); }

void CountVariances::Add(const CountVariances& other) {
  allocations += other.allocations;
  frees += other.frees;
  bytes_allocated += other.bytes_allocated;
  bytes_live += other.bytes_live;
  bytes_peak += other.bytes_peak;
}

bool View::TellsAllocations() const {
  return !IsImport() || std::any_of(sites.begin(), sites.end(),
                                    [](const SiteView& site) { return site.allocations > 0; });
}

uint64_t View::HookNanos() const {
  uint64_t timed = 0;
  for (const auto& part : profile.own_cost.part()) {
    const bool hook =
        part.what() == "allocation" || part.what() == "free" || part.what() == "new_stack";
    if (hook && __builtin_add_overflow(timed, part.total_nanos(), &timed)) return 0;
  }
  if (timed > 0) return timed;
  if (!engine_record || engine_record->period_unit() != "ns") return 0;
  // A hostile file may hold any numbers: a sum that does not fit is none.
  uint64_t nanos = 0;
  return __builtin_mul_overflow(tally.InAgent(), engine_record->period(), &nanos) ? 0 : nanos;
}

// Less than a tick may pass before hardware is free: only after a while it is no accident.
bool IsSilent(const memagent::v1::EventTotal& event) {
  constexpr uint64_t kLongEnoughNanos = 100'000'000;  // facts: perf_abi 8.1
  return event.running_nanos() == 0 && event.enabled_nanos() >= kLongEnoughNanos;
}

uint64_t FateView::Trapped() const {
  uint64_t sum = 0;
  for (const auto& [kind, count] : trapped) sum += count;
  return sum;
}

void FateView::Add(const memagent::v1::CodeFate& fate) {
  samples += fate.samples();
  retired += fate.retired();
  killed_before_map += fate.killed_before_map();
  killed_after_map += fate.killed_after_map();
  for (int i = 0; i < fate.trap_size(); ++i) trapped[fate.trap(i)] += fate.trapped(i);
  icache_misses += fate.icache_misses();
  stalled += fate.stalled();
  in_window += fate.in_window();
}

// Numbers: profile.proto, CodeFate.trap.
std::string TrapWord(uint32_t trap) {
  constexpr std::string_view kWords[] = {"replay",
                                         "",
                                         "DTB double miss (3 levels)",
                                         "DTB double miss (4 levels)",
                                         "floating point disabled",
                                         "unaligned",
                                         "DTB miss",
                                         "data fault",
                                         "opcode",
                                         "",
                                         "machine check",
                                         "",
                                         "arithmetic",
                                         "",
                                         "floating-point control",
                                         "reset",
                                         "mispredicted",
                                         "ITB miss",
                                         "instruction access",
                                         "interrupt"};
  return trap < std::size(kWords) && !kWords[trap].empty() ? std::string(kWords[trap]) : "unknown";
}

const ThreadView* View::FindThread(uint32_t id) const {
  const auto found =
      std::lower_bound(threads.begin(), threads.end(), id,
                       [](const ThreadView& thread, uint32_t key) { return thread.id < key; });
  return found == threads.end() || found->id != id ? nullptr : &*found;
}

std::string View::ThreadName(uint32_t id) const {
  const ThreadView* thread = FindThread(id);
  return thread == nullptr ? "" : thread->name;
}

std::string KindWord(memagent::v1::RegionKind kind) {
  switch (kind) {
    case memagent::v1::HEAP:
      return "heap";
    case memagent::v1::MMAP:
      return "mmap";
    case memagent::v1::GLOBAL:
      return "global";
    case memagent::v1::TLS:
      return "tls";
    case memagent::v1::STACK:
      return "stack";
    case memagent::v1::FILE:
      return "file";
    case memagent::v1::BRK:
      return "brk";
    case memagent::v1::SHM:
      return "shm";
    default:
      return "unknown";
  }
}

std::string EngineWord(memagent::v1::Engine::Kind kind) {
  switch (kind) {
    case memagent::v1::Engine::IBS:
      return "ibs";
    case memagent::v1::Engine::PEBS:
      return "pebs";
    case memagent::v1::Engine::SPE:
      return "spe";
    case memagent::v1::Engine::SOFTWARE:
      return "software";
    case memagent::v1::Engine::PROFILEME:
      return "profileme";
    default:
      return "none";
  }
}

}  // namespace memagent::viewer
