#include "agent/os/node_counters.h"

#include "agent/base/containers.h"
#include "agent/os/file.h"

namespace memagent::os {
namespace {

// vmstat has about 200 lines of 25 characters.
constexpr size_t kMaxFileBytes = size_t{64} << 10;

// Calls visit(name, value) for each line that is a name and a number.
template <typename Visit>
void ForEachCount(std::string_view text, Visit visit) {
  while (!text.empty()) {
    std::string_view line = TakeUntil(text, '\n');
    const std::string_view name = TakeUntil(line, ' ');
    if (const auto value = ParseUnsigned(Trim(line))) visit(name, *value);
  }
}

base::String ReadNodeFile(std::string_view root, NodeId node, std::string_view name) {
  const base::String path = JoinPath(JoinPath(root, "/devices/system/node/"), "node",
                                     static_cast<uint64_t>(node), name);
  return ReadWholeFile(path.c_str(), kMaxFileBytes).value_or(base::String());
}

}  // namespace

NumaStat ParseNumaStat(std::string_view text) {
  NumaStat stat;
  ForEachCount(text, [&](std::string_view name, uint64_t value) {
    if (name == "numa_hit") stat.hit = value;
    if (name == "numa_miss") stat.miss = value;
    if (name == "numa_foreign") stat.foreign = value;
    if (name == "interleave_hit") stat.interleave_hit = value;
  });
  return stat;
}

BalancingCounters ParseVmstat(std::string_view text) {
  BalancingCounters counters;
  ForEachCount(text, [&](std::string_view name, uint64_t value) {
    if (name == "numa_pages_migrated") counters.pages_migrated = value;
    if (name == "numa_hint_faults") counters.hint_faults = value;
  });
  return counters;
}

std::optional<uint64_t> ParseNodeMemFree(std::string_view text) {
  constexpr std::string_view kKey = "MemFree:";
  while (!text.empty()) {
    std::string_view line = TakeUntil(text, '\n');
    const size_t at = line.find(kKey);
    if (at == std::string_view::npos) continue;
    line = Trim(line.substr(at + kKey.size()));
    const auto kib = ParseUnsigned(TakeUntil(line, ' '));
    if (!kib || *kib > UINT64_MAX >> 10) return std::nullopt;
    return *kib << 10;
  }
  return std::nullopt;
}

NumaStat ReadNumaStat(NodeId node, std::string_view sys_root) {
  return ParseNumaStat(ReadNodeFile(sys_root, node, "/numastat"));
}

std::optional<uint64_t> ReadNodeMemFree(NodeId node, std::string_view sys_root) {
  return ParseNodeMemFree(ReadNodeFile(sys_root, node, "/meminfo"));
}

BalancingCounters ReadBalancingCounters(std::string_view proc_root) {
  const base::String path = JoinPath(proc_root, "/vmstat");
  return ParseVmstat(ReadWholeFile(path.c_str(), kMaxFileBytes).value_or(base::String()));
}

}  // namespace memagent::os
