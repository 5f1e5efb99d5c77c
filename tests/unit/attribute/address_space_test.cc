#include "agent/attribute/address_space.h"

#include <gtest/gtest.h>

#include <string>

namespace memagent::attribute {
namespace {

constexpr std::string_view kMaps =
    "00400000-00401000 r--p 00000000 08:01 123    /usr/bin/program\n"
    "00401000-00402000 r-xp 00001000 08:01 123    /usr/bin/program\n"
    "00600000-00700000 rw-p 00000000 00:00 0      [heap]\n"
    "7f0000000000-7f0000100000 rw-p 00000000 00:00 0\n"
    "7f0000100000-7f0000200000 rw-p 00000000 00:00 0    [anon:arena]\n"
    "7f0000200000-7f0000400000 rw-p 00000000 00:0f 77   /anon_hugepage (deleted)\n"
    "7f0000400000-7f0000401000 rw-s 00000000 00:01 5    /SYSV00000000 (deleted)\n"
    "7f0000401000-7f0000402000 rw-s 00000000 00:01 6    /dev/shm/pool\n"
    "7f0000402000-7f0000403000 rw-s 00000000 00:01 7    /memfd:buffer (deleted)\n"
    "7f0000403000-7f0000404000 rw-s 00000000 00:01 8    /dev/zero (deleted)\n"
    "7f0000404000-7f0000405000 r--s 00000000 08:01 9    /data/a file\n"
    "7ffc00000000-7ffc00100000 rw-p 00000000 00:00 0    [stack]\n"
    "7ffc00200000-7ffc00202000 r-xp 00000000 00:00 0    [vdso]\n"
    "7ffc00202000-7ffc00204000 r--p 00000000 00:00 0    [vvar]\n";

MappingKind KindAt(const AddressSpace& space, uint64_t address) {
  const auto range = space.Find(address);
  EXPECT_TRUE(range.has_value()) << std::hex << address;
  return range ? range->kind : MappingKind::kKernel;
}

TEST(AddressSpace, RingOfThePerfEventsIsNoMemoryOfTheProgram) {
  AddressSpace space;
  space.Load("7f0000000000-7f0000011000 rw-s 00000000 00:0e 2071    anon_inode:[perf_event]\n");
  EXPECT_FALSE(space.Find(0x7f0000000000).has_value());
}

TEST(AddressSpace, EachNameHasItsKind) {
  AddressSpace space;
  space.Load(kMaps);
  EXPECT_EQ(KindAt(space, 0x400010), MappingKind::kFile);
  EXPECT_EQ(KindAt(space, 0x600000), MappingKind::kHeap);
  EXPECT_EQ(KindAt(space, 0x7f0000000000), MappingKind::kAnonymous);
  EXPECT_EQ(KindAt(space, 0x7f0000100000), MappingKind::kAnonymous);
  EXPECT_EQ(KindAt(space, 0x7f0000200000), MappingKind::kAnonymous);
  for (uint64_t page = 0x7f0000400000; page < 0x7f0000404000; page += 4096) {
    EXPECT_EQ(KindAt(space, page), MappingKind::kShared);
  }
  EXPECT_EQ(KindAt(space, 0x7f0000404000), MappingKind::kFile);
  EXPECT_EQ(KindAt(space, 0x7ffc00000000), MappingKind::kMainStack);
  EXPECT_EQ(KindAt(space, 0x7ffc00200000), MappingKind::kKernel);
  EXPECT_EQ(KindAt(space, 0x7ffc00203fff), MappingKind::kKernel);
}

TEST(AddressSpace, AddressesBetweenMappingsAreNowhere) {
  AddressSpace space;
  space.Load(kMaps);
  for (uint64_t address : {0x0ull, 0x3fffffull, 0x402000ull, 0x700000ull, 0x7ffc00204000ull}) {
    EXPECT_FALSE(space.Find(address).has_value()) << std::hex << address;
  }
}

TEST(AddressSpace, MappingsOfOneFileShareItsPath) {
  AddressSpace space;
  space.Load(kMaps);
  const auto first = space.Find(0x400000);
  const auto second = space.Find(0x401000);
  EXPECT_EQ(first->path, second->path);
  EXPECT_FALSE(first->executable);
  EXPECT_TRUE(second->executable);
  EXPECT_EQ(space.PathOf(*first), "/usr/bin/program");
  EXPECT_EQ(space.PathOf(*space.Find(0x7f0000404000)), "/data/a file");
  EXPECT_EQ(space.PathOf(*space.Find(0x7f0000000000)), "");
}

TEST(AddressSpace, LoadReplacesWhatWasThere) {
  AddressSpace space;
  space.Load(kMaps);
  space.Load("1000-2000 rw-p 00000000 08:01 1 /x\n");
  EXPECT_FALSE(space.Find(0x400000).has_value());
  EXPECT_EQ(space.PathOf(*space.Find(0x1fff)), "/x");
  space.Load("");
  EXPECT_FALSE(space.Find(0x1fff).has_value());
}

}  // namespace
}  // namespace memagent::attribute
