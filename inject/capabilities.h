// What this machine can measure: found by trying, not by CPU name.
#ifndef MEMAGENT_INJECT_CAPABILITIES_H_
#define MEMAGENT_INJECT_CAPABILITIES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace memagent::inject {

// One thing that was tried. `detail` is one sentence: what was found, or why not; `remedy` is one
// sentence, "" when nothing needs doing.
struct Finding {
  std::string name;  // "ibs", "first_touch", ... as in the JSON
  bool usable = false;
  std::string detail;
  std::string remedy;
};

struct NodeFinding {
  int id = 0;
  std::string cpus;
  uint64_t memory_bytes = 0;
};

struct Capabilities {
  std::string cpu;
  std::string kernel;
  std::string hypervisor;  // "" on bare metal
  int perf_event_paranoid = 0;
  uint32_t mlock_kib = 0;
  uint32_t max_sample_rate = 0;
  std::vector<NodeFinding> nodes;
  std::string engine = "none";  // what engine=auto would use
  bool engine_is_hardware = false;
  std::vector<Finding> engines;   // in the order they would be tried
  std::vector<Finding> features;  // first touch, decoder, skid, page nodes
};

// Tries everything, in about 50 ms. Opens perf events on the calling thread and closes them again.
Capabilities ProbeCapabilities();

// Pure. Text for people, at most 100 columns wide.
std::string CapabilitiesText(const Capabilities& capabilities);

// Pure. One JSON object, keys as the members above.
std::string CapabilitiesJson(const Capabilities& capabilities);

// 0: a hardware engine samples here; 1: only the software engine does; 3: nothing can be sampled.
int CapabilitiesExitStatus(const Capabilities& capabilities);

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_CAPABILITIES_H_
