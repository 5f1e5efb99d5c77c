#include "agent/attribute/block_finder.h"

#include "agent/ledger/thread_record.h"

namespace memagent::attribute {

using ledger::Age;
using ledger::AtOrBefore;
using ledger::DeadBlock;
using ledger::EventTime;
using ledger::ThreadRecord;

namespace {

// Host threads go on while we look: what they do in the next 2^20 units (70 to 130 ms) must not
// look like the far past when ages are counted back from `now`.
constexpr uint32_t kFutureMargin = 1u << 20;

}  // namespace

void BlockFinder::GatherHistory() {
  ledger::ForEachThread([this](ThreadRecord* record) {
    record->history.PopAll([this](const DeadBlock& block) {
      history_.push_back(block);
      if (block.size >= ledger::kLargeBlock) large_frees_.push_back(block);
    });
    if (record->history_lost.exchange(0, std::memory_order_relaxed) > 0) {
      NoteLoss(record->history_lost_at.load(std::memory_order_relaxed));
    }
  });
}

void BlockFinder::NoteLoss(EventTime when) {
  const EventTime now = ledger::Now() + kFutureMargin;
  if (!history_lost_ || AtOrBefore(history_lost_at_, when, now)) history_lost_at_ = when;
  history_lost_ = true;
}

void BlockFinder::ForgetBefore(EventTime settled) {
  const EventTime now = ledger::Now() + kFutureMargin;
  std::erase_if(history_,
                [=](const DeadBlock& block) { return Age(block.death, now) > Age(settled, now); });
  if (history_lost_ && Age(history_lost_at_, now) > Age(settled, now)) history_lost_ = false;
}

bool BlockFinder::FindInHistory(uint64_t address, EventTime moment, EventTime now,
                                ledger::Block& block) const {
  for (const DeadBlock& dead : history_) {
    if (address - dead.start >= dead.size) continue;
    const bool born = !dead.birth_known || AtOrBefore(dead.birth, moment, now);
    const bool died = Age(dead.death, now) >= Age(moment, now);
    if (!born || died) continue;
    block = {dead.start, dead.size, dead.site};
    return true;
  }
  return false;
}

HeapAnswer BlockFinder::FindAt(uint64_t address, EventTime moment, EventTime now) {
  HeapAnswer answer;
  answer.verdict = HeapVerdict::kBlock;
  if (ledger::LookUpBlock(address, moment, now, answer.block) == ledger::SlotVerdict::kBlock) {
    return answer;
  }
  if (FindInHistory(address, moment, now, answer.block)) return answer;
  GatherHistory();
  if (FindInHistory(address, moment, now, answer.block)) return answer;
  const bool lost = history_lost_ && AtOrBefore(moment, history_lost_at_, now);
  answer.verdict = lost ? HeapVerdict::kOverwritten : HeapVerdict::kNothing;
  return answer;
}

HeapAnswer BlockFinder::Find(uint64_t address, EventTime moment, uint32_t error) {
  const EventTime now = ledger::Now() + kFutureMargin;
  const HeapAnswer early = FindAt(address, moment - error, now);
  const HeapAnswer late = FindAt(address, moment + error, now);
  if (early.verdict == late.verdict && early.block.site == late.block.site) return early;
  return {HeapVerdict::kAmbiguous, {}};
}

}  // namespace memagent::attribute
