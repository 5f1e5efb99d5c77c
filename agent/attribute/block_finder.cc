#include "agent/attribute/block_finder.h"

#include <span>

#include "agent/ledger/site_table.h"
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

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMaxFilterPages = 4;

bool HeldAt(const DeadBlock& dead, uint64_t address, EventTime moment, EventTime now) {
  if (address - dead.start >= dead.size) return false;
  const bool born = !dead.birth_known || AtOrBefore(dead.birth, moment, now);
  return born && Age(dead.death, now) < Age(moment, now);
}

}  // namespace

void BlockFinder::GatherHistory() {
  const size_t before = history_.size();
  ledger::ForEachThread([this](ThreadRecord* record) {
    record->history.PopAll([this](const DeadBlock& block) {
      if (history_.size() >= kMaxHistory) return NoteLoss(block.death);
      (block.size > kMaxFilterPages * kPage ? wide_history_ : history_).push_back(block);
      if (block.size >= ledger::kLargeBlock) large_frees_.push_back(block);
    });
    if (record->history_lost.exchange(0, std::memory_order_relaxed) > 0) {
      NoteLoss(record->history_lost_at.load(std::memory_order_relaxed));
    }
  });
  if (history_.size() == before) return;
  segments_.push_back({ledger::Now(), history_.size() - before});
}

// Adds what is new: in a program that frees all the time, every miss gathers a little.
void BlockFinder::UpdateFilter() {
  if (filtered_ == 0) {
    pages_.Clear();
    filtered_ = begin_;
  }
  for (; filtered_ < history_.size(); ++filtered_) {
    const DeadBlock& block = history_[filtered_];
    for (uint64_t at = 0; at < block.size; at += kPage) pages_.Add(block.start + at);
    if (block.size != 0) pages_.Add(block.start + block.size - 1);
  }
}

void BlockFinder::NoteLoss(EventTime when) {
  const EventTime now = ledger::Now() + kFutureMargin;
  if (!history_lost_ || AtOrBefore(history_lost_at_, when, now)) history_lost_at_ = when;
  history_lost_ = true;
}

void BlockFinder::ForgetBefore(EventTime settled) {
  gathers_left_ = kGathersForMisses;
  const EventTime now = ledger::Now() + kFutureMargin;
  const auto is_old = [=](EventTime event) { return Age(event, now) > Age(settled, now); };
  std::erase_if(wide_history_, [&](const DeadBlock& block) { return is_old(block.death); });
  auto first_kept = segments_.begin();
  for (; first_kept != segments_.end() && is_old(first_kept->gathered); ++first_kept) {
    begin_ += first_kept->count;
  }
  if (first_kept != segments_.begin()) filtered_ = 0;
  segments_.erase(segments_.begin(), first_kept);
  if (begin_ > history_.size() / 2) {  // moves less than it drops
    history_.erase(history_.begin(), history_.begin() + static_cast<ptrdiff_t>(begin_));
    begin_ = 0;
  }
  if (history_lost_ && Age(history_lost_at_, now) > Age(settled, now)) history_lost_ = false;
}

bool BlockFinder::FindInHistory(uint64_t address, EventTime moment, EventTime now,
                                ledger::Block& block) {
  const auto search = [&](std::span<const DeadBlock> blocks) {
    for (const DeadBlock& dead : blocks) {
      if (!HeldAt(dead, address, moment, now)) continue;
      block = {dead.start, dead.size, dead.site};
      return true;
    }
    return false;
  };
  if (search(wide_history_)) return true;
  UpdateFilter();
  return pages_.MayHold(address) && search(std::span(history_).subspan(begin_));
}

HeapAnswer BlockFinder::FindAt(uint64_t address, EventTime moment, EventTime now) {
  HeapAnswer answer;
  answer.verdict = HeapVerdict::kBlock;
  if (ledger::LookUpBlock(address, moment, now, answer.block) == ledger::SlotVerdict::kBlock) {
    return answer;
  }
  if (FindInHistory(address, moment, now, answer.block)) return answer;
  if (gathers_left_ > 0) {
    --gathers_left_;
    GatherHistory();
    if (FindInHistory(address, moment, now, answer.block)) return answer;
  }
  const bool lost = history_lost_ && AtOrBefore(moment, history_lost_at_, now);
  answer.verdict = lost ? HeapVerdict::kOverwritten : HeapVerdict::kNothing;
  return answer;
}

HeapAnswer BlockFinder::Find(uint64_t address, EventTime moment, uint32_t error) {
  const EventTime now = ledger::Now() + kFutureMargin;
  HeapAnswer early = FindAt(address, moment - error, now);
  HeapAnswer late = FindAt(address, moment + error, now);
  for (HeapAnswer* answer : {&early, &late}) {
    answer->block.site = ledger::PrimarySite(answer->block.site);
  }
  if (early.verdict == late.verdict && early.block.site == late.block.site) return early;
  return {HeapVerdict::kAmbiguous, {}};
}

}  // namespace memagent::attribute
