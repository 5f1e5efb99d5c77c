// The view model: what a profile says, joined and ready to show. Plain data, names as recorded
// (untrusted: Terminal::Safe before printing). Built by query.h.
#ifndef MEMAGENT_VIEWER_VIEW_H_
#define MEMAGENT_VIEWER_VIEW_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/profile/reader.h"
#include "viewer/access_view.h"
#include "viewer/statistics.h"

namespace memagent::viewer {

// A place in the program's code, as far as it is known.
struct CodeLine {
  std::string function;        // demangled in full; "" unknown
  std::string short_function;  // without parameters and template arguments
  std::string file;            // path as the compiler saw it; "" unknown
  uint32_t line = 0;
  std::string module;    // path of the executable or library; "" unknown
  uint64_t address = 0;  // ELF address in the module
  bool inlined = false;  // its caller is the next line of the same machine code
};

struct ReasonCount {
  std::string name;     // snake_case
  std::string meaning;  // a phrase; "" for a reason this viewer does not know
  uint64_t count = 0;
};

struct EvidenceCount {
  uint64_t exact = 0;
  uint64_t approximate = 0;
  uint64_t pc_only = 0;
  uint64_t none = 0;
};

// Every sample's fate: seen = attributed + unattributed + dropped.
struct Tally {
  uint64_t seen = 0;
  uint64_t attributed = 0;
  std::vector<ReasonCount> unattributed;  // most first
  std::vector<ReasonCount> dropped;
  EvidenceCount evidence;

  uint64_t Unattributed() const;
  uint64_t Dropped() const;
  // Dropped because the program was in one of memagent's hooks: what the agent cost, not a loss.
  uint64_t InAgent() const;
  uint64_t Lost() const { return Dropped() - InAgent(); }
  // Those whose instruction did not access memory.
  uint64_t NotMemory() const;
  // Samples of memory accesses that reached us, attributed or not: what shares are parts of.
  uint64_t MemorySamples() const;
  // MemorySamples() that have no allocation.
  uint64_t UnattributedMemory() const { return MemorySamples() - attributed; }
  bool Balances() const { return seen == attributed + Unattributed() + Dropped(); }
};

// Samples by where the thread ran and where the page was; nodes are -1 when unknown.
struct Use {
  uint32_t thread = 0;
  int32_t cpu_node = -1;
  int32_t memory_node = -1;
  uint64_t samples = 0;
  uint64_t stores = 0;     // of them, those that wrote: see View::knows_stores
  uint64_t positions = 0;  // which 64ths of its blocks, bit 0 the first; 0: not told
  LatencySum latency;

  bool IsLocated() const { return cpu_node >= 0 && memory_node >= 0; }
  bool IsRemote() const { return IsLocated() && cpu_node != memory_node; }
};

struct AccessingCode {
  CodeLine where;
  uint64_t samples = 0;
  uint64_t remote_samples = 0;
  LatencySum latency;
};

// What became of the sampled instructions of one line; fates exclude each other.
struct FateView {
  CodeLine where;
  uint64_t samples = 0;
  uint64_t retired = 0;
  uint64_t killed_before_map = 0;
  uint64_t killed_after_map = 0;
  std::map<uint32_t, uint64_t> trapped;  // by kind of trap: TrapWord
  uint64_t icache_misses = 0;
  uint64_t stalled = 0;
  uint64_t in_window = 0;

  uint64_t Trapped() const;
  void Add(const memagent::v1::CodeFate& fate);
};

struct FirstTouch {
  uint32_t thread = 0;
  int32_t cpu_node = -1;
  CodeLine where;
  uint64_t pages = 0;      // estimated from the faults seen
  uint64_t faults = 0;     // really seen
  uint64_t positions = 0;  // which 64ths of their blocks, bit 0 the first; 0: not told
};

// Samples in one 64th of a site's blocks, of those blocks whose 64th is a page or more.
struct StripCell {
  uint32_t position = 0;  // 0 to 63
  int32_t cpu_node = -1;
  int32_t memory_node = -1;
  uint64_t samples = 0;
};

struct NodePages {
  int32_t node = -1;
  uint64_t pages = 0;
};

// Of the errors of a site's counts where blocks were picked by chance; 0: the count is exact. Picks
// are independent, so those of several sites add up.
struct CountVariances {
  double allocations = 0;
  double frees = 0;
  double bytes_allocated = 0;
  double bytes_live = 0;
  double bytes_peak = 0;

  void Add(const CountVariances& other);
};

struct SiteView {
  std::string id;           // "S1" has the most samples
  uint32_t profile_id = 0;  // in the profile file
  std::string kind;         // "heap", "mmap", "global", ...
  std::string name;         // of the variable, thread or file; "" for allocations
  CodeLine where;  // the first frame that isn't plumbing; for others, short_function = name
  std::vector<CodeLine> stack;  // innermost first, inlined calls expanded
  bool stack_cut = false;
  uint64_t samples = 0;
  double share = 0;
  Interval share_interval;
  uint64_t located_samples = 0;  // both nodes known
  uint64_t remote_samples = 0;
  EvidenceCount evidence;
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t bytes_allocated = 0;
  uint64_t bytes_live = 0;
  uint64_t bytes_peak = 0;
  uint64_t inherited_blocks = 0;  // live when this process was forked, not among the allocations
  uint64_t inherited_bytes = 0;
  uint64_t picked_allocations = 0;  // by chance; 0: the counts are exact
  uint64_t picked_frees = 0;
  CountVariances variances;
  std::vector<Use> uses;                // most samples first
  std::vector<AccessingCode> code;      // most samples first
  std::vector<FirstTouch> first_touch;  // most pages first
  std::vector<NodePages> pages;
  uint64_t pages_not_present = 0;
  uint64_t pages_moved = 0;  // times that a sampled page was on another node than when last seen
  std::vector<StripCell> strip;
  uint64_t strip_samples_left_out = 0;
  std::vector<memagent::v1::Sharing> sharing;
  std::vector<memagent::v1::PolicyCount> policies;
  uint64_t huge_pages = 0;  // of the sampled pages that were asked for it
  uint64_t huge_pages_asked = 0;
  uint64_t touched_pages_huge = 0;  // when they were touched first, of `touched_pages_told`
  uint64_t touched_pages_told = 0;
  AccessView access;  // what hardware told

  double design_effect = 1;  // of its samples: the view's

  bool IsWeak() const { return static_cast<double>(samples) < kWeakSamples * design_effect; }
};

struct ThreadView {
  uint32_t id = 0;
  int32_t tid = 0;
  std::string name;
  bool main = false;
  Tally tally;
  uint64_t time_enabled_nanos = 0;
  uint64_t time_running_nanos = 0;
  uint64_t unobserved_nanos = 0;
  uint64_t throttled = 0;
  std::vector<uint64_t> samples_by_node;  // index: CPU node
  uint64_t node_changes = 0;  // times that a sample came from another node than the one before
  std::string not_sampled;    // why, "" when it was
};

// How far the numbers can be trusted.
struct Quality {
  enum class Word { kGood, kFair, kPoor };
  Word word = Word::kGood;
  std::vector<std::string> reasons;  // a sentence each; empty for kGood
};

struct MachineNode {
  int row = -1;  // in the table of distances; -1: only its CPUs are known
  bool has_cpus = false;
  uint64_t memory_bytes = 0;
};

// NUMA nodes by number, which may have gaps. nodes.h answers questions about them.
struct MachineNodes {
  std::map<int32_t, MachineNode> by_number;
  bool tell_cpus = false;    // of some node CPUs are known
  bool tell_memory = false;  // likewise
};

// Why a module's lines are missing, and what helps.
struct SymbolNote {
  std::string module;  // path
  std::string text;    // one sentence
};

struct View {
  profile::Profile profile;                           // header, events, own cost
  std::string engine;                                 // "ibs", "pebs", "spe", "software", "none"
  std::optional<memagent::v1::Engine> engine_record;  // the one in use
  uint64_t wall_nanos = 0;
  size_t node_count = 1;  // of the machine
  MachineNodes nodes;
  std::vector<uint32_t> raw_by_site;  // of profile.raw_samples: those of one site together
  Tally tally;
  Tally faults;                        // page-fault samples; no evidence
  std::vector<ReasonCount> untracked;  // without what was left out by order
  uint64_t not_picked = 0;             // blocks left out by chance (sample_bytes=)
  uint64_t unpicked_frees = 0;         // frees of such
  std::vector<ThreadView> threads;     // by id
  std::vector<SiteView> sites;  // most sampled latency first, where it is known, else most samples
  uint64_t located_samples = 0;
  uint64_t remote_samples = 0;
  AccessView access;            // of all sites
  std::vector<FateView> fates;  // most samples first; of engines that tell fates
  // Where a budget lowered the sampling rate, samples count for several: see WilsonInterval.
  double design_effect = 1;
  bool knows_stores = false;  // samples tell whether they wrote
  bool cut_short = false;     // rows were left out: see view_budget.h
  std::vector<SymbolNote> symbol_notes;
  Quality quality;

  bool HasRemote() const { return node_count > 1; }
  // Made from what another tool recorded: there was no agent.
  bool IsImport() const { return !profile.header.imported_from().empty(); }
  // An imported profile does with an allocation log only.
  bool TellsAllocations() const;
  // Other tools mostly don't record where pages lie.
  bool TellsPages() const { return HasRemote() && (!IsImport() || located_samples > 0); }
  // Whether hardware told where accesses were served, and how long they took.
  bool HasSource() const { return access.samples > 0; }
  bool HasLatency() const { return access.latency.samples > 0; }
  bool HasBudget() const { return profile.economy.budget_share() > 0; }
  // Whether counts of allocations are estimates.
  bool IsSampled() const { return profile.economy.largest_sample_bytes() > 1; }
  // Time the program's threads spent in memagent's hooks, estimated: from calls that were timed in
  // place; in profiles without those, the samples that fell into the hooks times the period. 0 when
  // none did, or the period is no time.
  uint64_t HookNanos() const;
  // nullptr: it is not known.
  const ThreadView* FindThread(uint32_t id) const;
  std::string ThreadName(uint32_t id) const;
};

// Opened, and never given the hardware: it measured nothing, which is not the same as nothing
// there.
bool IsSilent(const memagent::v1::EventTotal& event);

std::string TrapWord(uint32_t trap);

// The view must be able to name every kind; used in JSON, too.
std::string KindWord(memagent::v1::RegionKind kind);
std::string EngineWord(memagent::v1::Engine::Kind kind);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_VIEW_H_
