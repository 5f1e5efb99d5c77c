// Random programs against a plain list of (block, birth, death): whatever the slots and the history
// that was handed out say together must be what the list says, at every moment still pending.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "agent/ledger/shadow_map.h"

namespace memagent::ledger {
namespace {

struct Life {
  uint64_t start;
  uint64_t size;
  SiteId site;
  EventTime birth;
  EventTime death;
  bool dead;
};

struct Program {
  uint64_t base;
  uint64_t span;
  uint64_t max_size;
  EventTime first_time;
  uint64_t grain = kGranule;  // 16: allocators that start two blocks in one granule
};

class Model {
 public:
  Model(const Program& program, uint32_t seed)
      : program_(program), random_(seed), now_(program.first_time) {
    SetHistoryWanted(true);
    SetSettled(now_);
  }
  ~Model() {
    SetHistoryWanted(false);
    SetSettled(0);
  }

  void Step() {
    now_ += 1 + random_() % 3;
    const uint32_t choice = random_() % 100;
    if (choice < 52) Allocate();
    if (choice >= 52 && choice < 95) Free();
    if (choice >= 95 && choice < 97) FailedRealloc();
    if (choice >= 97) Settle();
  }

  void Check() {
    for (int i = 0; i < 40; ++i) {
      const uint64_t address = AnyAddress();
      const uint32_t window = now_ - Settled();
      const EventTime moment = Settled() + random_() % (window + 1);
      const SiteId expected = Expected(address, moment);
      ASSERT_EQ(Found(address, moment), expected)
          << std::hex << address << std::dec << " age " << now_ - moment;
      ++checks_;
      if (expected != SiteId::kUnknown) ++hits_;
    }
  }
  int checks() const { return checks_; }
  int hits() const { return hits_; }
  int from_history() const { return from_history_; }

 private:
  uint64_t AnyAddress() {
    if (lives_.empty() || random_() % 4 == 0) return program_.base + random_() % program_.span;
    const Life& life = lives_[lives_.size() - 1 - random_() % std::min<size_t>(lives_.size(), 300)];
    return life.start + random_() % (life.size + 17);
  }

  void Allocate() {
    const uint64_t size = SomeSize();
    const uint64_t grain = program_.grain;
    const uint64_t place = program_.base + random_() % (program_.span - size) / grain * grain;
    const uint64_t start = place + (grain == kGranule ? random_() % 2 * 16 : 0);
    // glibc: bytes up to a granule's end belong to the block, so that no two starts share one.
    const uint64_t end = (start + size) / grain * grain + grain;
    const auto next = live_.lower_bound(place);
    if (next != live_.end() && next->first < end) return;
    if (next != live_.begin() && std::prev(next)->second.end > place) return;
    const SiteId site{1 + static_cast<uint32_t>(random_() % 1000)};
    Displaced displaced;
    ASSERT_TRUE(TryInsertBlock(start, size, site, now_) ||
                InsertBlock(start, size, site, now_, displaced) == InsertResult::kOk);
    ASSERT_FALSE(displaced.missed_free);
    Keep(displaced);
    live_[start] = {end, lives_.size()};
    lives_.push_back({start, size, site, now_, 0, false});
  }

  uint64_t SomeSize() {
    constexpr uint64_t kCommon[] = {64, 1024, 40'000, ~uint64_t{0}};
    return random_() % std::min(program_.max_size, kCommon[random_() % 4]);
  }

  void Free() {
    if (live_.empty()) return;
    auto victim = live_.lower_bound(program_.base + random_() % program_.span);
    if (victim == live_.end()) victim = live_.begin();
    Life& life = lives_[victim->second.life];
    Block block;
    Displaced displaced;
    ASSERT_TRUE(TryEraseBlock(life.start, now_, block) ||
                EraseBlock(life.start, now_, block, displaced));
    ASSERT_EQ(block.size, life.size);
    ASSERT_EQ(block.site, life.site);
    Keep(displaced);
    life.death = now_;
    life.dead = true;
    live_.erase(victim);
  }

  // The block is never gone for the reference.
  void FailedRealloc() {
    if (live_.empty()) return;
    const Life& life = lives_[live_.begin()->second.life];
    if (life.birth - program_.first_time >= Settled() - program_.first_time) return;
    Block block;
    Displaced displaced;
    ASSERT_TRUE(TryEraseBlock(life.start, now_, block) ||
                EraseBlock(life.start, now_, block, displaced));
    Keep(displaced);
    RestoreBlock(block);
  }

  void Settle() {
    SetSettled(now_ - std::min<uint32_t>(now_ - Settled(), random_() % 200));
    const EventTime settled = Settled();
    std::erase_if(history_,
                  [&](const DeadBlock& block) { return now_ - block.death > now_ - settled; });
  }

  void Keep(const Displaced& displaced) {
    for (int i = 0; i < displaced.count; ++i) history_.push_back(displaced.blocks[i]);
  }

  SiteId Found(uint64_t address, EventTime moment) {
    Block block;
    if (LookUpBlock(address, moment, now_, block) == SlotVerdict::kBlock) return block.site;
    for (const DeadBlock& dead : history_) {
      if (address - dead.start >= dead.size || Age(dead.death, now_) >= Age(moment, now_)) continue;
      if (dead.birth_known && !AtOrBefore(dead.birth, moment, now_)) continue;
      ++from_history_;
      return dead.site;
    }
    return SiteId::kUnknown;
  }

  SiteId Expected(uint64_t address, EventTime moment) const {
    const auto since = [this](EventTime time) { return time - program_.first_time; };
    for (auto life = lives_.rbegin(); life != lives_.rend(); ++life) {
      if (address - life->start >= life->size || since(life->birth) > since(moment)) continue;
      if (life->dead && since(life->death) <= since(moment)) continue;
      return life->site;
    }
    return SiteId::kUnknown;
  }

  struct Place {
    uint64_t end;
    size_t life;
  };
  Program program_;
  std::mt19937 random_;
  EventTime now_;
  std::vector<Life> lives_;
  std::map<uint64_t, Place> live_;
  std::vector<DeadBlock> history_;
  int checks_ = 0;
  int hits_ = 0;
  int from_history_ = 0;
};

void RunProgram(const Program& program, uint32_t seed) {
  Model model(program, seed);
  for (int step = 0; step < 4000; ++step) {
    model.Step();
    if (testing::Test::HasFatalFailure()) return;
    if (step % 20 == 0) model.Check();
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(model.hits(), model.checks() / 20);
  EXPECT_GT(model.from_history(), 0);
}

TEST(ShadowMapModel, SmallBlocksInAPageAgreeWithTheList) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    RunProgram({0x300000000000 + seed * (uint64_t{1} << 30), 8192, 600, 1000}, seed);
  }
}

TEST(ShadowMapModel, BlocksAcrossMarkersAgreeWithTheList) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    RunProgram({0x310000000000 + seed * (uint64_t{1} << 30), 200'000, 30'000, 1000}, seed);
  }
}

TEST(ShadowMapModel, BlocksAcrossChunksAgreeWithTheList) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    const uint64_t base = 0x320000000000 + seed * (uint64_t{1} << 33) + 4096;
    RunProgram({base, 10 * kChunkSpan, 5 * kChunkSpan, 1000}, seed);
  }
}

TEST(ShadowMapModel, BlocksThatShareGranulesAgreeWithTheList) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    RunProgram({0x340000000000 + seed * (uint64_t{1} << 30), 4096, 63, 1000, 16}, seed);
  }
}

TEST(ShadowMapModel, ClockThatWrapsAgreesWithTheList) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    RunProgram({0x330000000000 + seed * (uint64_t{1} << 30), 50'000, 20'000, 0u - 3000}, seed);
  }
}

}  // namespace
}  // namespace memagent::ledger
