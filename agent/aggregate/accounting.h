// Where every sample went. For each thread and for the process:
//
//   samples_seen = attributed + sum(unattributed) + sum(dropped)
//   faults_seen  = faults_attributed + sum(faults_unattributed) + sum(faults_dropped)
#ifndef MEMAGENT_AGENT_AGGREGATE_ACCOUNTING_H_
#define MEMAGENT_AGENT_AGGREGATE_ACCOUNTING_H_

#include <array>
#include <cstdint>

#include "agent/base/reasons.h"
#include "agent/base/types.h"

namespace memagent::aggregate {

// Arrays are indexed by the enums of agent/base/reasons.h and by Evidence.
struct Accounting {
  uint64_t samples_seen = 0;
  uint64_t attributed = 0;
  std::array<uint64_t, kUnattributedReasonCount> unattributed = {};
  std::array<uint64_t, kDropReasonCount> dropped = {};
  std::array<uint64_t, kEvidenceCount> evidence = {};  // of samples seen and not dropped
  uint64_t faults_seen = 0;
  uint64_t faults_attributed = 0;
  std::array<uint64_t, kUnattributedReasonCount> faults_unattributed = {};
  std::array<uint64_t, kDropReasonCount> faults_dropped = {};
  std::array<uint64_t, kUntrackedReasonCount> untracked = {};

  void Add(const Accounting& other);
  // Samples lost or thrown away before attribution; they count as seen.
  void DropSamples(DropReason reason, uint64_t count);
  void DropFaults(DropReason reason, uint64_t count);
};

}  // namespace memagent::aggregate

#endif  // MEMAGENT_AGENT_AGGREGATE_ACCOUNTING_H_
