#include "agent/aggregate/code_fates.h"

namespace memagent::aggregate {

void FateCounts::Add(const decode::ProfileMeSample& sample, uint64_t weight) {
  using Fate = decode::ProfileMeFate;
  samples += weight;
  if (sample.fate == Fate::kRetired) retired += weight;
  if (sample.fate == Fate::kKilledBeforeMap) killed_before_map += weight;
  if (sample.fate == Fate::kKilledAfterMap) killed_after_map += weight;
  if (sample.fate == Fate::kTrapped) trapped[static_cast<size_t>(sample.trap)] += weight;
  if (sample.icache_miss) icache_misses += weight;
  if (sample.stalled) stalled += weight;
  in_window += sample.in_window * weight;
}

void FateCounts::Add(const FateCounts& other) {
  samples += other.samples;
  retired += other.retired;
  killed_before_map += other.killed_before_map;
  killed_after_map += other.killed_after_map;
  for (size_t i = 0; i < trapped.size(); ++i) trapped[i] += other.trapped[i];
  icache_misses += other.icache_misses;
  stalled += other.stalled;
  in_window += other.in_window;
}

void CodeFates::Add(uint64_t ip, const decode::ProfileMeSample& sample, uint64_t weight) {
  const bool full = by_code_.size() >= kMaxCode && !by_code_.contains(ip);
  by_code_[full ? 0 : ip].Add(sample, weight);
}

}  // namespace memagent::aggregate
