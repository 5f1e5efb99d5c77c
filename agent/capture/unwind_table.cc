#include "agent/capture/unwind_table.h"

#include "agent/capture/unwind_cfi.h"
#include "agent/capture/unwind_objects.h"

namespace memagent::capture {

constinit RuleSlot rule_slots[kRuleSlots];
constinit std::atomic<uint64_t> rule_generation{uint64_t{1} << kAddressBits};

namespace {

constexpr uint64_t kBusy = ~uint64_t{0};
// Generations run from 1 to this, so that neither 0 nor kBusy is ever a key.
constexpr uint64_t kLastGeneration = (uint64_t{1} << (64 - kAddressBits)) - 2;

UnwindRule Compile(uintptr_t ip, bool& in_object) {
  const auto object = os::FindCodeObject(ip);
  in_object = object.has_value();
  if (!object || object->eh_frame_header == 0) return PlainRule(RuleKind::kNoInfo);
  const MemoryView header =
      SegmentOf(*object, object->eh_frame_header).From(object->eh_frame_header);
  const auto parsed = ParseEhFrameHeader(header);
  if (!parsed) return PlainRule(RuleKind::kNoInfo);
  const MemoryView frames = SegmentOf(*object, parsed->eh_frame);
  const UnwindRule rule = CompileRule(*parsed, frames, ip);
  if (rule.kind() != RuleKind::kNoInfo) return rule;
  return StartsFunction(*parsed, frames, ip + 1) ? PlainRule(RuleKind::kEnd) : rule;
}

void Publish(RuleSlot& slot, uint64_t old_key, uint64_t key, UnwindRule rule) {
  if (!slot.key.compare_exchange_strong(old_key, kBusy, std::memory_order_acq_rel)) return;
  slot.rule.store(rule.bits, std::memory_order_release);
  slot.key.store(key, std::memory_order_release);
}

void Insert(uintptr_t ip, uint64_t key, UnwindRule rule) {
  const size_t home = HomeSlot(ip);
  for (size_t i = 0; i < kRuleProbes; ++i) {
    RuleSlot& slot = rule_slots[(home + i) % kRuleSlots];
    const uint64_t old_key = slot.key.load(std::memory_order_relaxed);
    if (old_key == kBusy || old_key >> kAddressBits == key >> kAddressBits) continue;
    return Publish(slot, old_key, key, rule);
  }
  RuleSlot& slot = rule_slots[home % kRuleSlots];
  const uint64_t old_key = slot.key.load(std::memory_order_relaxed);
  if (old_key != kBusy) Publish(slot, old_key, key, rule);
}

}  // namespace

[[gnu::noinline, gnu::cold]] UnwindRule CompileAndInsert(uintptr_t ip) {
  const uint64_t key = ip | UnwindGeneration();
  bool in_object = false;
  const UnwindRule rule = Compile(ip, in_object);
  // An address outside all objects may belong to a library loaded later: not remembered.
  if (in_object) Insert(ip, key, rule);
  return rule;
}

[[gnu::noinline]] UnwindRule FindOrCompile(uintptr_t ip) {
  const uint64_t key = ip | UnwindGeneration();
  const size_t home = HomeSlot(ip);
  UnwindRule rule;
  for (size_t i = 0; i < kRuleProbes; ++i) {
    const RuleSlot& slot = rule_slots[(home + i) % kRuleSlots];
    if (ReadSlot(slot, key, rule)) return rule;
    if (slot.key.load(std::memory_order_relaxed) == 0) break;
  }
  return CompileAndInsert(ip);
}

void ForgetRules() {
  uint64_t old = rule_generation.load(std::memory_order_relaxed);
  uint64_t next;
  do {
    const uint64_t number = old >> kAddressBits;
    next = (number == kLastGeneration ? 1 : number + 1) << kAddressBits;
  } while (!rule_generation.compare_exchange_weak(old, next, std::memory_order_acq_rel));
  if (next >> kAddressBits != 1) return;
  // Generations start over: entries of the first round must not come back.
  for (RuleSlot& slot : rule_slots) slot.key.store(0, std::memory_order_release);
}

}  // namespace memagent::capture
