#include "agent/attribute/thread_areas.h"

#include <gtest/gtest.h>

namespace memagent::attribute {
namespace {

constexpr uint64_t kStackLow = 0x7f0000000000;
constexpr uint64_t kInitialSp = kStackLow + 0x7ff000;
constexpr uint64_t kThreadPointer = kStackLow + 0x7ff6c0;
constexpr ThreadArea kArea = {3, kStackLow, kInitialSp, kThreadPointer};

RegionKind KindAt(const ThreadAreas& areas, uint64_t address) { return areas.Find(address).kind; }

TEST(ThreadAreas, StackReachesFromTheMappingsStartToTheFirstFrames) {
  ThreadAreas areas;
  areas.Add(kArea);
  EXPECT_EQ(KindAt(areas, kStackLow - 1), RegionKind::kUnknown);
  EXPECT_EQ(KindAt(areas, kStackLow), RegionKind::kStack);
  EXPECT_EQ(KindAt(areas, kInitialSp), RegionKind::kStack);
  EXPECT_EQ(KindAt(areas, kInitialSp + ThreadAreas::kStartFrames - 1), RegionKind::kStack);
  EXPECT_EQ(areas.Find(kStackLow).thread, 3u);
}

TEST(ThreadAreas, TlsReachesFromTheFirstFramesToTheDescriptorsEnd) {
  ThreadAreas areas;
  areas.Add(kArea);
  EXPECT_EQ(KindAt(areas, kInitialSp + ThreadAreas::kStartFrames), RegionKind::kTls);
  EXPECT_EQ(KindAt(areas, kThreadPointer), RegionKind::kTls);
  const uint64_t end = kThreadPointer + ThreadAreas::kDescriptorBytes;
  EXPECT_EQ(KindAt(areas, end - 1), RegionKind::kTls);
  EXPECT_EQ(KindAt(areas, end), RegionKind::kUnknown);
}

TEST(ThreadAreas, MainThreadsTlsIsFarFromItsStack) {
  ThreadAreas areas;
  const uint64_t pointer = 0x7f5500000000;
  areas.Add({1, 0x7ffc00000000, 0x7ffc00000000, pointer});
  EXPECT_EQ(KindAt(areas, pointer - ThreadAreas::kMainTlsBytes), RegionKind::kTls);
  EXPECT_EQ(KindAt(areas, pointer - ThreadAreas::kMainTlsBytes - 1), RegionKind::kUnknown);
  EXPECT_EQ(KindAt(areas, pointer + 8), RegionKind::kTls);
}

TEST(ThreadAreas, RemovedThreadIsForgottenAndOthersStay) {
  ThreadAreas areas;
  areas.Add(kArea);
  areas.Add({4, kStackLow + 0x10000000, kInitialSp + 0x10000000, kThreadPointer + 0x10000000});
  areas.Remove(3);
  EXPECT_EQ(KindAt(areas, kStackLow), RegionKind::kUnknown);
  EXPECT_EQ(areas.Find(kStackLow + 0x10000000).thread, 4u);
}

TEST(ThreadAreas, StackStartIsLearnedOnceItIsKnown) {
  ThreadAreas areas;
  areas.Add({3, kInitialSp, kInitialSp, kThreadPointer});
  EXPECT_EQ(KindAt(areas, kStackLow + 8), RegionKind::kUnknown);
  areas.LearnStacks([](uint64_t address) { return address; });
  EXPECT_EQ(KindAt(areas, kStackLow + 8), RegionKind::kUnknown);
  areas.LearnStacks([](uint64_t address) {
    EXPECT_EQ(address, kInitialSp);
    return kStackLow;
  });
  EXPECT_EQ(KindAt(areas, kStackLow + 8), RegionKind::kStack);
  areas.LearnStacks([](uint64_t) { return kInitialSp - 16; });  // the maps were old
  EXPECT_EQ(KindAt(areas, kStackLow + 8), RegionKind::kUnknown);
  EXPECT_EQ(KindAt(areas, kInitialSp - 16), RegionKind::kStack);
}

}  // namespace
}  // namespace memagent::attribute
