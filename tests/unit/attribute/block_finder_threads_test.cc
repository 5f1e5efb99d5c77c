// The whole path with the real clock: threads that give their address to another site all the time,
// samples that carry the truth, and a drain that looks them up while the threads run on.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "agent/attribute/block_finder.h"
#include "agent/ledger/thread_record.h"

namespace memagent::attribute {
namespace {

using ledger::EventTime;

constexpr int kThreads = 2;
constexpr uint32_t kSamples = 5'000;  // of each thread
constexpr uint64_t kAddress = 0x480000000000;
constexpr uint32_t kLag = 100'000;  // 6 to 13 ms: nothing older is looked up
constexpr uint32_t kFirstSite = 1'000'000;  // no site of that number exists

struct Truth {
  uint64_t address;
  EventTime moment;
  SiteId site;
};
using TruthRing = ledger::SpscRing<Truth, 4096>;

class Host {
 public:
  Host() { truths_.Attach(storage_.data()); }

  void Start(uint32_t index) {
    thread_ = std::thread([this, index] { Run(index); });
  }
  void Join() {
    thread_.join();
    ledger::ReleaseThread(record_);
  }
  TruthRing& truths() { return truths_; }

 private:
  static EventTime Later(EventTime than) {
    EventTime now = ledger::Now();
    while (now == than) now = ledger::Now();
    return now;
  }

  void Run(uint32_t index) {
    record_ = ledger::RegisterThread(static_cast<Tid>(index), false, 0);
    std::mt19937 random(index);
    const uint64_t address = kAddress + index * (uint64_t{1} << 30);
    for (uint32_t i = 0; i < kSamples;) {
      const SiteId site{kFirstSite + static_cast<uint32_t>(random() % 100)};
      const uint64_t size = random() % 8 == 0 ? 40'000 : 32 + random() % 200;
      const uint64_t start = address + random() % 3 * 32;
      ledger::Displaced displaced;
      const EventTime born = ledger::Now();
      ledger::InsertBlock(start, size, site, born, displaced);
      Keep(displaced);
      const EventTime moment = Later(born);
      if (truths_.Push({start + random() % size, moment, site})) ++i;
      ledger::Block block;
      displaced = {};
      ledger::EraseBlock(start, Later(moment), block, displaced);
      Keep(displaced);
    }
  }

  void Keep(const ledger::Displaced& displaced) {
    for (int i = 0; i < displaced.count; ++i) {
      while (!record_->history.Push(displaced.blocks[i])) std::this_thread::yield();
    }
  }

  std::vector<Truth> storage_{4096};
  TruthRing truths_;
  ledger::ThreadRecord* record_ = nullptr;
  std::thread thread_;
};

TEST(BlockFinderThreads, AddressReusedByOtherSitesIsNeverBookedOnTheWrongOne) {
  ledger::SetSettled(ledger::Now() - kLag);
  ledger::SetHistoryWanted(true);
  BlockFinder finder;
  std::vector<std::unique_ptr<Host>> hosts;
  for (uint32_t i = 0; i < kThreads; ++i) hosts.push_back(std::make_unique<Host>());
  for (uint32_t i = 0; i < kThreads; ++i) hosts[i]->Start(i);
  uint32_t right = 0;
  uint32_t wrong = 0;
  uint32_t none = 0;
  uint32_t late = 0;
  while (right + wrong + none + late < kThreads * kSamples) {
    const EventTime round = ledger::Now();
    finder.GatherHistory();
    for (const auto& host : hosts) {
      host->truths().PopAll([&](const Truth& truth) {
        const EventTime now = ledger::Now();
        if (ledger::Age(truth.moment, now) >= ledger::Age(ledger::Settled(), now)) {
          ++late;
          return;
        }
        const HeapAnswer answer = finder.Find(truth.address, truth.moment, 0);
        if (answer.verdict != HeapVerdict::kBlock) {
          ++none;
        } else {
          ++(answer.block.site == truth.site ? right : wrong);
        }
      });
    }
    ledger::SetSettled(round - kLag);
    finder.ForgetBefore(round - kLag);
    std::this_thread::yield();
  }
  for (const auto& host : hosts) host->Join();
  ledger::SetHistoryWanted(false);
  ledger::SetSettled(0);
  EXPECT_EQ(wrong, 0u);
  // A block is in neither place for the moment between its slot and its thread's ring.
  EXPECT_LT(none, kThreads * kSamples / 100) << "late: " << late;
  EXPECT_GT(right, kThreads * kSamples / 2) << "late: " << late;
  RecordProperty("right", static_cast<int>(right));
  RecordProperty("none", static_cast<int>(none));
  RecordProperty("late", static_cast<int>(late));
}

}  // namespace
}  // namespace memagent::attribute
