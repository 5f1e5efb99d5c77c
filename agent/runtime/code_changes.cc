#include "agent/runtime/code_changes.h"

#include "agent/capture/stack_trie.h"
#include "agent/capture/unwind_objects.h"
#include "agent/os/clock.h"

namespace memagent::runtime {
namespace {

constexpr uint64_t kWaitMillis = 1000;  // on a machine whose CPUs are all taken
// A dlclose waits 0.23 ms in its two announcements (100 in a row, idle machine). The first 200 ms,
// some 800 unloads, are free.
constexpr uint64_t kFreeNanos = 200'000'000;
constexpr uint64_t kShare = 20;

uint32_t IdentityOf(const base::String& build_id) {
  return capture::IdentityOfBuildId(
      {reinterpret_cast<const uint8_t*>(build_id.data()), build_id.size()});
}

}  // namespace

void CodeChanges::Announce() {
  const uint64_t before = os::MonotonicNanos();
  uint64_t first = 0;
  if (first_nanos_.compare_exchange_strong(first, before)) first = before;
  if (waited_nanos_.load(std::memory_order_relaxed) > kFreeNanos + (before - first) / kShare) {
    unobserved_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  request_.Await(kWaitMillis);
  waited_nanos_.fetch_add(os::MonotonicNanos() - before, std::memory_order_relaxed);
}

void CodeChanges::NoteUnobserved(EventLog& log) const {
  if (unobserved_.load(std::memory_order_relaxed) == 0) return;
  log.Add(
      profile::Severity::kWarning, "unloads_not_followed",
      "Libraries were unloaded so often that memagent did not look each time, so code in them may "
      "have another's name.");
}

void SettleGoneModules(attribute::Modules& modules, aggregate::Aggregator& aggregator,
                       StackExport& stacks) {
  stacks.Update();
  modules.ForEachNewlyGone([&](uint32_t id, const attribute::Module& module) {
    aggregator.NameCode(module.start, module.end, [&](uint64_t ip) {
      return stacks.FrameAt({id, ip - module.load_bias}, true);
    });
    capture::RetireFrames(module.start, module.end, IdentityOf(module.build_id));
  });
}

}  // namespace memagent::runtime
