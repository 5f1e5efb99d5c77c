#include "agent/runtime/placement_book.h"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>

#include <map>

namespace memagent::runtime {
namespace {

using ledger::PlacementCall;
using ledger::PlacementKind;

base::BitMask Nodes(std::initializer_list<size_t> numbers) {
  base::BitMask nodes;
  for (const size_t number : numbers) nodes.Set(number);
  return nodes;
}

PlacementCall Mbind(Tid thread, uint64_t address, size_t node) {
  PlacementCall call;
  call.kind = PlacementKind::kMbind;
  call.thread = thread;
  call.stack = StackId{9};
  call.mode_and_flags = MPOL_BIND | MPOL_F_STATIC_NODES;
  call.address = address;
  call.size_bytes = 4096;
  call.mask = Nodes({node});
  return call;
}

PlacementCall SetPolicy(Tid thread, int mode, const base::BitMask& nodes) {
  PlacementCall call;
  call.kind = PlacementKind::kSetMempolicy;
  call.thread = thread;
  call.mode_and_flags = static_cast<uint32_t>(mode);
  call.mask = nodes;
  return call;
}

class PlacementBookTest : public testing::Test {
 protected:
  // "bind 1" or "?".
  std::string PolicyOf(uint32_t serial, Nanos time) const {
    const auto policy =
        book_.PolicyOf(serial, time, [this](uint32_t id) -> std::optional<ThreadOrigin> {
          const auto known = threads_.find(id);
          if (known == threads_.end()) return std::nullopt;
          return known->second;
        });
    if (!policy) return "?";
    std::string text(os::PolicyModeName(policy->mode));
    policy->nodes.ForEach([&](uint32_t node) { text += ' ' + std::to_string(node); });
    return text;
  }

  PlacementBook book_;
  std::map<uint32_t, ThreadOrigin> threads_ = {{1, {100, true, 0, 0}}};
};

TEST_F(PlacementBookTest, EqualCallsAreOneRow) {
  book_.Add(Mbind(100, 0x1000, 1), 50, SiteId{3}, 0);
  book_.Add(Mbind(100, 0x9000, 1), 60, SiteId{4}, 0);
  book_.Add(Mbind(100, 0x9000, 2), 70, SiteId{4}, 0);  // another node
  book_.Add(Mbind(101, 0x9000, 1), 80, SiteId{4}, 0);  // another thread
  ASSERT_EQ(book_.rows().size(), 3u);
  const PlacementRow& row = book_.rows()[0];
  EXPECT_EQ(row.time, 50u);
  EXPECT_EQ(row.site, SiteId{3});
  EXPECT_EQ(row.first.address, 0x1000u);
  EXPECT_EQ(row.size_bytes, 8192u);
  EXPECT_EQ(row.calls, 2u);
  EXPECT_EQ(row.refused, 0u);
}

TEST_F(PlacementBookTest, RefusedCallsAreCountedWithTheFirstError) {
  PlacementCall call = Mbind(100, 0x1000, 1);
  call.mask = {};
  call.error = 22;
  book_.Add(call, 50, SiteId::kUnknown, 0);
  call.error = 14;
  book_.Add(call, 60, SiteId::kUnknown, 0);
  ASSERT_EQ(book_.rows().size(), 1u);
  EXPECT_EQ(book_.rows()[0].calls, 2u);
  EXPECT_EQ(book_.rows()[0].refused, 2u);
  EXPECT_EQ(book_.rows()[0].refused_errno, 22);
}

TEST_F(PlacementBookTest, CallsBeyondTheRowsAndLostOnesAreLeftOut) {
  for (size_t i = 0; i < PlacementBook::kMaxRows + 5; ++i) {
    book_.Add(Mbind(static_cast<Tid>(i), 0x1000, 1), i, SiteId::kUnknown, 0);
  }
  book_.SetLost({2, 0, 0}, 50);
  EXPECT_EQ(book_.rows().size(), PlacementBook::kMaxRows);
  EXPECT_EQ(book_.left_out(), 7u);
}

TEST_F(PlacementBookTest, WithoutChangesAllThreadsHaveTheFirstPolicy) {
  EXPECT_EQ(PolicyOf(1, 50), "?");  // the kernel did not tell
  book_.SetStartPolicy({MPOL_INTERLEAVE, Nodes({0, 3})});
  EXPECT_EQ(PolicyOf(1, 50), "interleave 0 3");
  EXPECT_EQ(PolicyOf(0, 50), "interleave 0 3");
  EXPECT_EQ(PolicyOf(77, 50), "interleave 0 3");  // whoever that is
}

TEST_F(PlacementBookTest, AThreadHasWhatItSetLastOrWhatItsCreatorHadThen) {
  book_.SetStartPolicy({});
  threads_[2] = {102, false, 1, 150};
  threads_[3] = {103, false, 2, 400};
  threads_[4] = {104, false, 0, 0};  // made by a thread that is not known
  book_.Add(SetPolicy(100, MPOL_BIND, Nodes({1})), 100, {}, 0);
  book_.Add(SetPolicy(100, MPOL_BIND, Nodes({2})), 200, {}, 0);
  book_.Add(SetPolicy(102, MPOL_PREFERRED, {}), 300, {}, 0);
  EXPECT_EQ(PolicyOf(1, 99), "default");
  EXPECT_EQ(PolicyOf(1, 150), "bind 1");
  EXPECT_EQ(PolicyOf(1, 250), "bind 2");
  EXPECT_EQ(PolicyOf(2, 290), "bind 1");
  EXPECT_EQ(PolicyOf(2, 310), "local");
  EXPECT_EQ(PolicyOf(3, 500), "local");
  EXPECT_EQ(PolicyOf(4, 500), "?");
  EXPECT_EQ(PolicyOf(0, 500), "?");  // whichever thread it was
}

TEST_F(PlacementBookTest, WithinTheClocksErrorNothingIsSaid) {
  book_.SetStartPolicy({});
  book_.SetClockError(10);
  book_.Add(SetPolicy(100, MPOL_BIND, Nodes({1})), 100, {}, 0);
  book_.Add(Mbind(100, 0x10000, 1), 100, {}, 0);
  EXPECT_EQ(PolicyOf(1, 90), "default");
  EXPECT_EQ(PolicyOf(1, 91), "?");
  EXPECT_EQ(PolicyOf(1, 109), "?");
  EXPECT_EQ(PolicyOf(1, 110), "bind 1");
  EXPECT_TRUE(book_.PlacedSince(0x10000, 110));
  EXPECT_FALSE(book_.PlacedSince(0x10000, 111));
}

TEST_F(PlacementBookTest, RefusedChangesChangeNothingAndLostOnesMakeAllUnknown) {
  book_.SetStartPolicy({});
  PlacementCall refused = SetPolicy(100, MPOL_BIND, {});
  refused.error = 22;
  book_.Add(refused, 100, {}, 0);
  EXPECT_EQ(PolicyOf(1, 150), "default");
  book_.SetLost({9, 0, 0}, 120);  // of CPUs
  EXPECT_EQ(PolicyOf(1, 150), "default");
  book_.SetLost({10, 1, 0}, 130);
  EXPECT_EQ(PolicyOf(1, 150), "?");
}

TEST_F(PlacementBookTest, UpToALostPlacementAnyMappingMayHaveBeenPlaced) {
  book_.SetLost({3, 0, 0}, 100);
  EXPECT_FALSE(book_.PlacedSince(0x777000, 50));
  book_.SetLost({4, 0, 1}, 200);
  book_.SetLost({4, 0, 1}, 300);  // no more of them
  EXPECT_TRUE(book_.PlacedSince(0x777000, 200));
  EXPECT_FALSE(book_.PlacedSince(0x777000, 201));
}

TEST_F(PlacementBookTest, MappingsPlacedSinceAreKnownToBe) {
  book_.Add(Mbind(100, 0x10000, 1), 100, {}, 0);
  EXPECT_TRUE(book_.PlacedSince(0x10fff, 100));
  EXPECT_FALSE(book_.PlacedSince(0x11000, 100));
  EXPECT_FALSE(book_.PlacedSince(0x10000, 101));
  for (size_t i = 0; i < PlacementBook::kMaxPlaced; ++i) {
    book_.Add(Mbind(100, 0x90000, 1), 200 + i, {}, 0);
  }
  EXPECT_TRUE(book_.PlacedSince(0x777000, 100));  // forgotten: it may have been
  EXPECT_FALSE(book_.PlacedSince(0x777000, 150));
}

}  // namespace
}  // namespace memagent::runtime
