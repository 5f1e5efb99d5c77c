#include "agent/aggregate/site_stats.h"

#include <algorithm>

namespace memagent::aggregate {

base::Vector<uint64_t> SiteStats::CodeIn(uint64_t start, uint64_t end) const {
  base::Vector<uint64_t> found;
  const auto add = [&](uint64_t ip) {
    if (ip >= start && ip < end) found.push_back(ip);
  };
  for (const auto& [ip, count] : code) add(ip);
  for (const auto& [key, touch] : first_touch) add(key.ip);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void SiteStats::RenameCode(uint64_t from, uint64_t to) {
  if (const auto it = code.find(from); it != code.end()) {
    const CodeCount count = it->second;
    code.erase(it);
    CodeCount& sum = code[to];
    sum.samples += count.samples;
    sum.remote_samples += count.remote_samples;
    sum.latency.samples += count.latency.samples;
    sum.latency.cycles += count.latency.cycles;
  }
  base::Vector<std::pair<TouchKey, TouchCount>> moved;
  std::erase_if(first_touch, [&](const auto& entry) {
    if (entry.first.ip != from) return false;
    moved.push_back(entry);
    return true;
  });
  for (auto& [key, touch] : moved) {
    TouchCount& sum = first_touch[{key.thread, key.cpu_node, to}];
    sum.pages += touch.pages;
    sum.faults += touch.faults;
    sum.positions |= touch.positions;
  }
}

}  // namespace memagent::aggregate
