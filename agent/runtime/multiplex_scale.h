// What a sample stands for, of an event that did not run all the time: the kernel lets events take
// turns where the hardware has too little room for all (facts: perf_abi 1.8, 2.2).
//
// The share of the time that an event ran is the kernel's own, for each thread and event; it is
// taken anew each 100 ms, so that a sample is scaled by what was true when it was taken. Samples
// are counted in whole numbers: the fraction of one is carried over to the next, so that counts add
// up to what scaling them as a whole would give. Pure. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_MULTIPLEX_SCALE_H_
#define MEMAGENT_AGENT_RUNTIME_MULTIPLEX_SCALE_H_

#include <cstdint>

namespace memagent::runtime {

class MultiplexScale {
 public:
  // Since the event was opened: the time in which it was wanted, and in which it ran.
  void Update(uint64_t wanted_nanos, uint64_t running_nanos);

  // How many samples the next one stands for: 1 or more, ratio() on average.
  uint64_t Next();
  double ratio() const { return ratio_; }

 private:
  double ratio_ = 1;
  double carried_ = 0;
  bool full_window_ = false;
  uint64_t wanted_ = 0;  // at the start of this window
  uint64_t running_ = 0;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_MULTIPLEX_SCALE_H_
