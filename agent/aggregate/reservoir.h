// A uniform choice of all samples, of bounded size (Vitter's algorithm R).
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_AGGREGATE_RESERVOIR_H_
#define MEMAGENT_AGENT_AGGREGATE_RESERVOIR_H_

#include <cstdint>

#include "agent/base/containers.h"
#include "agent/base/types.h"

namespace memagent::aggregate {

struct KeptSample {
  Nanos time;
  uint64_t ip;
  uint64_t address;
  uint32_t thread;
  uint32_t cpu;
  uint32_t site;
  Evidence evidence;
  NodeId memory_node;
  uint32_t latency_cycles;
  uint64_t data_src;
};

class Reservoir {
 public:
  explicit Reservoir(uint64_t size) : size_(size) {}

  void Offer(const KeptSample& sample) {
    ++offered_;
    if (kept_.size() < size_) {
      kept_.push_back(sample);
    } else if (const uint64_t place = Random() % offered_; place < size_) {
      kept_[place] = sample;
    }
  }

  const base::Vector<KeptSample>& kept() const { return kept_; }
  uint64_t offered() const { return offered_; }

 private:
  uint64_t Random() {  // xorshift64*: Vigna 2016; chance only decides which samples are shown
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1dull;
  }

  uint64_t size_;
  uint64_t offered_ = 0;
  uint64_t state_ = 0x9e3779b97f4a7c15ull;
  base::Vector<KeptSample> kept_;
};

}  // namespace memagent::aggregate

#endif  // MEMAGENT_AGENT_AGGREGATE_RESERVOIR_H_
