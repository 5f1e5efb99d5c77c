// What this machine can measure: found by trying, not by CPU name.
#ifndef MEMAGENT_INJECT_CAPABILITIES_H_
#define MEMAGENT_INJECT_CAPABILITIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "inject/budgets.h"
#include "inject/system_calls.h"

namespace memagent::inject {

// One thing that was tried. `detail` is one sentence: what was found, or why not; `remedy` is one
// sentence, "" when nothing needs doing.
struct Finding {
  std::string name;  // "first_touch", "decoder", ... as in the JSON
  bool usable = false;
  std::string detail;
  std::string remedy;
};

// An attempt that the kernel refused.
struct RefusedAttempt {
  std::string event;
  std::string attr;
  int error = 0;      // errno
  std::string cause;  // "EACCES: one sentence"
  std::string remedy;
};

// One event of an engine, of which every thread gets one.
struct EventFinding {
  bool opens = false;
  std::string event;               // the attempt that opened, else the first
  std::string attr;                // exactly as it was opened
  std::string leader;              // attr of the group's leader, "" for none
  std::vector<std::string> gives;  // "data address", "latency", ...
  std::string lacks;               // against the engine's best, sentences
  std::string ran;                 // "yes", "no" (opened, and never scheduled), "not tried"
  std::vector<RefusedAttempt> refused;
};

struct EngineFinding {
  std::string name;  // "ibs"
  bool usable = false;
  bool chosen = false;  // what engine=auto would use
  std::string detail;   // one sentence: what opens, or why it is not tried or does not open
  std::string remedy;
  uint64_t period = 0;  // 0: not tried
  std::string period_unit;
  std::vector<EventFinding> events;
};

struct PmuFinding {
  std::string name;
  bool samples_accesses = false;
  std::string cpus;  // "" means all
};

struct NodeFinding {
  int id = 0;
  std::string cpus;
  uint64_t memory_bytes = 0;
};

// Rights of this process, and what confines it.
struct RightsFinding {
  bool sys_admin = false;
  bool perfmon = false;
  bool ipc_lock = false;
  bool user_namespace = false;  // capabilities don't count for perf events then
  std::string container;        // "docker", "podman", ...; "" for none that shows
  bool seccomp = false;         // a filter is in force
};

struct Capabilities {
  std::string cpu;
  std::string kernel;
  std::string hypervisor;  // "" on bare metal
  int perf_event_paranoid = 0;
  uint32_t mlock_kib = 0;
  uint32_t max_sample_rate = 0;
  std::string transparent_hugepage;  // "always", "madvise", "never"; "" not known
  int numa_balancing = -1;           // -1 not known
  std::vector<NodeFinding> nodes;
  std::vector<uint32_t> distances;  // nodes x nodes, row by row; empty when not known
  std::vector<PmuFinding> pmus;
  RightsFinding rights;
  std::vector<SystemCallFinding> system_calls;
  Budgets budgets;
  std::string engine = "none";  // what engine=auto would use
  bool engine_is_hardware = false;
  std::vector<EngineFinding> engines;  // in the order they would be tried
  std::vector<Finding> features;       // first touch, decoder, skid, page nodes
};

// Tries everything, in about 50 ms. Opens perf events on the calling thread and closes them again,
// and starts a short-lived child for each system call.
Capabilities ProbeCapabilities();

// Pure. Text for people, at most 80 columns wide.
std::string CapabilitiesText(const Capabilities& capabilities);

// Pure. One JSON object (docs/JSON.md).
std::string CapabilitiesJson(const Capabilities& capabilities);

// 0: a hardware engine samples here; 1: only the software engine does; 3: nothing can be sampled.
int CapabilitiesExitStatus(const Capabilities& capabilities);

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_CAPABILITIES_H_
