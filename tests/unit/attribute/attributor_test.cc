#include "agent/attribute/attributor.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "agent/os/tsc.h"

namespace memagent::attribute {
namespace {

int initialised_variable = 7;
char zero_variable[64];

// Knows the two variables above; everything else is in no module.
class FakeStatics final : public StaticNames {
 public:
  StaticObject Find(uint64_t address) override {
    if (Covers(&initialised_variable, sizeof(int), address))
      return {1, 0x10, 4, "seven", "/a/prog"};
    if (Covers(zero_variable, sizeof(zero_variable), address))
      return {1, 0x20, 64, "zero", "/a/prog"};
    if (address == unnamed) return {1, 0, 0, "", "/a/prog"};
    return {};
  }
  void Refresh(std::string_view) override { ++refreshes; }

  int refreshes = 0;
  uint64_t unnamed = 0;

 private:
  static bool Covers(const void* start, size_t size, uint64_t address) {
    return address - reinterpret_cast<uint64_t>(start) < size;
  }
};

uint64_t AddressOf(const void* object) { return reinterpret_cast<uint64_t>(object); }

class AttributorTest : public testing::Test {
 protected:
  void SetUp() override { attributor_.Refresh(); }

  static Moment Now() { return {os::ReadTsc(), 0}; }
  Attribution At(uint64_t address) { return attributor_.Attribute(address, Now()); }
  const NamedSite* Named(SiteId site) const {
    for (const NamedSite& named : attributor_.named_sites()) {
      if (named.site == site) return &named;
    }
    return nullptr;
  }
  static void InsertBlock(uint64_t start, uint64_t size, SiteId site) {
    ledger::Displaced displaced;
    ASSERT_EQ(ledger::InsertBlock(start, size, site, ledger::Now() - 100'000, displaced),
              ledger::InsertResult::kOk);
  }
  static void EraseBlock(uint64_t start) {
    ledger::Displaced displaced;
    ledger::Block block;
    ASSERT_TRUE(ledger::EraseBlock(start, ledger::Now(), block, displaced));
  }
  void MapEvent(void* start, size_t size, SiteId site, RegionKind kind) {
    ledger::RegionEvent event = {};
    event.kind = ledger::RegionEvent::Kind::kMap;
    event.region = kind;
    event.site = site;
    event.tsc = 1;
    event.start = AddressOf(start);
    event.size = size;
    attributor_.regions().Apply(event);
  }

  FakeStatics statics_;
  Attributor attributor_{statics_};
};

TEST_F(AttributorTest, HighAddressIsTheKernels) {
  const Attribution answer = At(~uint64_t{0} - 4096);
  EXPECT_FALSE(answer.attributed());
  EXPECT_EQ(answer.reason, UnattributedReason::kKernelAddress);
}

TEST_F(AttributorTest, UnmappedAddressIsAnUnknownRegion) {
  const Attribution answer = At(0x10000);
  EXPECT_FALSE(answer.attributed());
  EXPECT_EQ(answer.reason, UnattributedReason::kUnknownRegion);
}

TEST_F(AttributorTest, BlockIsFoundAndMemoryBesideItIsUnallocated) {
  void* memory = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  attributor_.Refresh();
  const uint64_t start = AddressOf(memory) + 64;
  InsertBlock(start, 100, SiteId{31});
  EXPECT_EQ(At(start + 99).site, SiteId{31});
  const Attribution beside = At(start + 1000);
  EXPECT_FALSE(beside.attributed());
  EXPECT_EQ(beside.reason, UnattributedReason::kUnallocated);
  EraseBlock(start);
  munmap(memory, 65536);
}

TEST_F(AttributorTest, BlockWinsOverTheMappingThatHoldsIt) {
  void* memory = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  attributor_.Refresh();
  MapEvent(memory, 65536, SiteId{41}, RegionKind::kMmap);
  const uint64_t start = AddressOf(memory) + 4096;
  InsertBlock(start, 100, SiteId{42});
  const Attribution block = At(start + 99);
  EXPECT_EQ(block.site, SiteId{42});
  EXPECT_EQ(block.start, start);
  EXPECT_EQ(block.size_bytes, 100u);
  const Attribution mapping = At(start + 4096);
  EXPECT_EQ(mapping.site, SiteId{41});
  EXPECT_EQ(mapping.start, AddressOf(memory));
  EXPECT_EQ(mapping.size_bytes, 65536u);
  EraseBlock(start);
  munmap(memory, 65536);
}

TEST_F(AttributorTest, BlockThatHoldsAThreadsStackIsStillABlock) {
  void* memory = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const uint64_t start = AddressOf(memory);
  InsertBlock(start, 65536, SiteId{43});
  attributor_.AddThread(9, start + 60'000, start + 61'000, false);
  attributor_.Refresh();
  EXPECT_EQ(At(start + 8192).site, SiteId{43});
  EraseBlock(start);
  munmap(memory, 65536);
}

TEST_F(AttributorTest, MappingThatHoldsAThreadsStackIsStillAMapping) {
  void* memory = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const uint64_t start = AddressOf(memory);
  MapEvent(memory, 65536, SiteId{45}, RegionKind::kMmap);
  attributor_.AddThread(9, start + 60'000, start + 61'000, false);
  attributor_.Refresh();
  EXPECT_EQ(At(start + 8192).site, SiteId{45});
  munmap(memory, 65536);
}

TEST_F(AttributorTest, SharedMemoryBelongsToWhoMappedIt) {
  void* memory = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  attributor_.Refresh();
  const Attribution unseen = At(AddressOf(memory));
  ASSERT_NE(Named(unseen.site), nullptr);
  EXPECT_EQ(Named(unseen.site)->kind, RegionKind::kShm);
  MapEvent(memory, 8192, SiteId{44}, RegionKind::kMmap);
  EXPECT_EQ(At(AddressOf(memory)).site, SiteId{44});
  munmap(memory, 8192);
}

TEST_F(AttributorTest, VariablesKeepTheirNamesWithAndWithoutAFileBehindThem) {
  const NamedSite* seven = Named(At(AddressOf(&initialised_variable)).site);
  ASSERT_NE(seven, nullptr);
  EXPECT_EQ(seven->name, "seven");
  EXPECT_EQ(seven->kind, RegionKind::kGlobal);
  EXPECT_EQ(seven->module, 1u);
  EXPECT_EQ(seven->address, 0x10u);
  EXPECT_EQ(seven->size_bytes, 4u);
  const NamedSite* zero = Named(At(AddressOf(zero_variable)).site);
  ASSERT_NE(zero, nullptr);
  EXPECT_EQ(zero->name, "zero");
}

TEST_F(AttributorTest, NamedSiteIsMadeOnce) {
  const SiteId first = At(AddressOf(&initialised_variable)).site;
  const size_t sites = attributor_.named_sites().size();
  EXPECT_EQ(At(AddressOf(&initialised_variable) + 2).site, first);
  EXPECT_EQ(attributor_.named_sites().size(), sites);
}

TEST_F(AttributorTest, DataWithoutASymbolIsNamedAfterItsModule) {
  static int nameless = 5;
  statics_.unnamed = AddressOf(&nameless);
  const NamedSite* named = Named(At(AddressOf(&nameless)).site);
  ASSERT_NE(named, nullptr);
  EXPECT_EQ(named->name, "[data of prog]");
}

TEST_F(AttributorTest, FileMappingIsNamedByItsPath) {
  char path[] = "/tmp/memagent_attributor_XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_EQ(ftruncate(fd, 8192), 0);
  void* memory = mmap(nullptr, 8192, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  attributor_.Refresh();
  const NamedSite* named = Named(At(AddressOf(memory)).site);
  ASSERT_NE(named, nullptr);
  EXPECT_EQ(named->name, path);
  EXPECT_EQ(named->kind, RegionKind::kFile);
  munmap(memory, 8192);
  unlink(path);
}

TEST_F(AttributorTest, MainStackIsMain) {
  int local = 0;
  const NamedSite* named = Named(At(AddressOf(&local)).site);
  ASSERT_NE(named, nullptr);
  EXPECT_EQ(named->name, "main");
  EXPECT_EQ(named->kind, RegionKind::kStack);
}

// The maps were read before the thread's stack was mapped, as is the rule in a real program.
TEST_F(AttributorTest, StackAndTlsOfAThreadNewerThanTheMapsAreFound) {
  static thread_local int of_thread = 1;
  Attribution stack;
  Attribution tls;
  std::thread thread([&] {
    attributor_.AddThread(5, AddressOf(__builtin_frame_address(0)),
                          AddressOf(__builtin_thread_pointer()), false);
    attributor_.NameThread(5, "worker");
    attributor_.Refresh();
    char deep[4096];
    stack = At(AddressOf(deep));
    tls = At(AddressOf(&of_thread));
  });
  thread.join();
  ASSERT_NE(Named(stack.site), nullptr);
  EXPECT_EQ(Named(stack.site)->name, "worker");
  EXPECT_EQ(Named(stack.site)->kind, RegionKind::kStack);
  ASSERT_NE(Named(tls.site), nullptr);
  EXPECT_EQ(Named(tls.site)->name, "worker");
  EXPECT_EQ(Named(tls.site)->kind, RegionKind::kTls);
}

TEST_F(AttributorTest, RemovedThreadNoLongerOwnsItsStack) {
  void* memory = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  attributor_.Refresh();
  const uint64_t start = AddressOf(memory);
  attributor_.AddThread(11, start + 60'000, start + 61'000, false);
  EXPECT_TRUE(At(start + 100).attributed());
  attributor_.RemoveThread(11);
  EXPECT_EQ(At(start + 100).reason, UnattributedReason::kUnallocated);
  munmap(memory, 65536);
}

TEST_F(AttributorTest, MissReadsTheMapsAtMostEveryTwentyMilliseconds) {
  const int before = statics_.refreshes;
  for (int i = 0; i < 1000; ++i) At(0x10000);
  EXPECT_LE(statics_.refreshes, before + 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  At(0x10000);
  EXPECT_GT(statics_.refreshes, before);
}

}  // namespace
}  // namespace memagent::attribute
