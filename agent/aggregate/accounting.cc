#include "agent/aggregate/accounting.h"

namespace memagent::aggregate {
namespace {

template <size_t kCount>
void AddArray(std::array<uint64_t, kCount>& to, const std::array<uint64_t, kCount>& from) {
  for (size_t i = 0; i < kCount; ++i) to[i] += from[i];
}

}  // namespace

void Accounting::Add(const Accounting& other) {
  samples_seen += other.samples_seen;
  attributed += other.attributed;
  AddArray(unattributed, other.unattributed);
  AddArray(dropped, other.dropped);
  AddArray(evidence, other.evidence);
  faults_seen += other.faults_seen;
  faults_attributed += other.faults_attributed;
  AddArray(faults_unattributed, other.faults_unattributed);
  AddArray(faults_dropped, other.faults_dropped);
  AddArray(untracked, other.untracked);
}

void Accounting::DropSamples(DropReason reason, uint64_t count) {
  samples_seen += count;
  dropped[static_cast<size_t>(reason)] += count;
}

void Accounting::DropFaults(DropReason reason, uint64_t count) {
  faults_seen += count;
  faults_dropped[static_cast<size_t>(reason)] += count;
}

}  // namespace memagent::aggregate
