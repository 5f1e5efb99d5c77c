// Reads a profile: bytes -> Profile, the viewer's only input. Ordinary code (libprotobuf), not part
// of the agent.
//
// What a reader may rely on, also for damaged or hostile input:
//  * every id inside a Profile is either 0 or a valid index: references to what was lost are set to
//    0 and counted in `LoadReport::bad_references`;
//  * a stack's parent has a smaller id than the stack, so walking parents always ends;
//  * columns that belong together have the same length;
//  * memory is bounded by kMaxFileBytes, kMaxChunkBytes and the table limits in reader.cc.
//
// Format: FORMAT.md. Field meanings: profile.proto.
#ifndef MEMAGENT_AGENT_PROFILE_READER_H_
#define MEMAGENT_AGENT_PROFILE_READER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/profile/profile.pb.h"

namespace memagent::profile {

// The agent stops at 64 MiB; merged profiles may be bigger. A chunk of the agent is under 1 MiB.
inline constexpr size_t kMaxFileBytes = size_t{256} << 20;
inline constexpr size_t kMaxChunkBytes = size_t{4} << 20;

// One code address. Symbols come from ELF symbol tables and are not demangled.
struct Frame {
  uint32_t module = 0;          // index in Profile::modules; 0: in no known module
  uint64_t address = 0;         // ELF address (module 0: absolute address)
  bool is_instruction = false;  // true: the instruction itself; false: a return address, so that
                                // symbols and lines belong to address - 1
  uint32_t function = 0;        // string id of the function's name; 0: no symbol
  uint64_t function_offset = 0;
};

// A call stack is a node of a tree: its innermost frame and its caller's stack (0: the root).
struct Stack {
  uint32_t parent = 0;
  uint32_t frame = 0;
};

struct Thread {
  v1::Thread start;       // unset when its record was lost
  v1::ThreadTotal total;  // the last one; unset before its first checkpoint
};

struct Site {
  v1::Site site;        // unset when its record was lost (kind UNKNOWN)
  v1::SiteTotal total;  // the last one; unset when nothing was counted yet
};

struct RawSample {
  uint64_t time = 0;  // CLOCK_MONOTONIC nanoseconds
  uint64_t ip = 0;
  uint64_t address = 0;
  uint32_t thread = 0;
  uint32_t cpu = 0;
  uint32_t site = 0;      // 0: unattributed
  uint32_t evidence = 0;  // as memagent::Evidence
  int32_t memory_node = -1;
  uint32_t latency_cycles = 0;  // 0: not told
  uint64_t data_src = 0;        // perf_mem_data_src as the kernel gave it; 0: none
};

// What reading found out about the file itself.
struct LoadReport {
  size_t bytes = 0;
  uint32_t chunks_read = 0;
  uint32_t chunks_damaged = 0;  // checksum or structure wrong: skipped
  uint32_t chunks_missing = 0;  // gaps in the sequence numbers that damaged chunks don't explain
  bool truncated = false;       // bytes after the last whole chunk
  uint64_t bad_references = 0;  // ids that lead to lost or never written records
  uint32_t strings_cut = 0;     // names over 16 KiB
  bool newer_minor = false;     // written by a newer agent: some records may be unknown to us
};

struct Profile {
  v1::Header header;
  std::vector<std::string> strings;  // by string id; [0] is ""
  std::vector<v1::Module> modules;   // by module id; [0] is empty
  std::vector<Thread> threads;       // by thread id; [0]: "thread unknown"
  std::vector<Frame> frames;         // by frame id; [0] is empty
  std::vector<Stack> stacks;         // by stack id; [0] is the root
  std::map<uint32_t, Site> sites;    // by site id; 0: "site unknown"
  v1::Accounting accounting;         // of the whole process, at the last checkpoint
  v1::OwnCost own_cost;
  v1::Economy economy;                             // unset: nothing was left out by order
  std::vector<v1::EventTotal> event_totals;        // of the engine in use
  std::vector<v1::CodeFate> code_fates;            // where it tells fates
  std::vector<v1::PlacementCall> placement_calls;  // of the program, in the order of their first
  uint64_t placement_calls_left_out = 0;
  std::vector<v1::NodeCounters> node_counters;  // the whole machine's, since the agent started
  uint64_t numa_pages_migrated = 0;             // likewise
  uint64_t numa_hint_faults = 0;
  std::vector<v1::AppliedPlacement> applied_placements;  // that memagent was asked to apply
  uint64_t checkpoint_time = 0;                          // of the last Totals; 0: none was written
  bool final = false;  // the last Totals was written at the end of the session
  std::vector<v1::Event> events;
  std::vector<RawSample> raw_samples;  // in the order written
  std::optional<v1::Footer> footer;    // absent: killed, or still running
  LoadReport load;

  Profile();

  // Text of a string id; "" for 0.
  std::string_view Text(uint32_t string_id) const;
  // Mangled function name of a frame; "" when there is no symbol.
  std::string_view FunctionOf(uint32_t frame_id) const;
  // Module of a frame; the empty module when it is in none.
  const v1::Module& ModuleOf(uint32_t frame_id) const;
  // Frame ids of a stack, innermost first.
  std::vector<uint32_t> FramesOf(uint32_t stack_id) const;
};

// Outcome of loading. Without a profile, `problem` says why in one sentence. With one, `warnings`
// say, a sentence each, what the file lacks (truncated, damaged, no footer is NOT a warning: see
// Profile::footer).
struct LoadResult {
  std::optional<Profile> profile;
  std::string problem;
  std::vector<std::string> warnings;
};

// `name` is used in sentences only.
LoadResult ParseProfile(std::string_view bytes, std::string_view name);

// Reads a file, or standard input for "-".
LoadResult LoadProfile(const std::string& path);

}  // namespace memagent::profile

#endif  // MEMAGENT_AGENT_PROFILE_READER_H_
