#include "viewer/import/address_map.h"

#include <gtest/gtest.h>

namespace memagent::importer {
namespace {

Mapping File(uint64_t start, uint64_t end, uint32_t id, uint32_t file = 1,
             bool executable = false) {
  Mapping mapping;
  mapping.start = start;
  mapping.end = end;
  mapping.file = file;
  mapping.id = id;
  mapping.executable = executable;
  return mapping;
}

Mapping Anonymous(uint64_t start, uint64_t end, uint32_t id) {
  Mapping mapping = File(start, end, id, 0);
  mapping.anonymous = mapping.writable = true;
  return mapping;
}

uint32_t IdAt(const AddressMap& map, uint64_t address) {
  const Mapping* found = map.Find(address);
  return found == nullptr ? 0 : found->id;
}

TEST(AddressMap, NewestRecordWinsWhereTwoOverlap) {
  AddressMap map;
  map.Insert(File(100, 500, 1));
  map.Insert(File(200, 300, 2));
  EXPECT_EQ(IdAt(map, 99), 0u);
  EXPECT_EQ(IdAt(map, 100), 1u);
  EXPECT_EQ(IdAt(map, 200), 2u);
  EXPECT_EQ(IdAt(map, 300), 1u);
  EXPECT_EQ(map.Find(300)->offset, 200u) << "what is left keeps its place in the file";
  EXPECT_EQ(IdAt(map, 500), 0u);
  map.Insert(File(0, 1000, 3));
  EXPECT_EQ(map.size(), 1u);
}

// The kernel joins a new mapping with the one above it and tells both as one.
TEST(AddressMap, JoinedMappingsStayApart) {
  AddressMap map;
  map.Insert(Anonymous(300, 400, 1));
  map.Insert(Anonymous(200, 400, 2));
  map.Insert(Anonymous(100, 400, 3));
  EXPECT_EQ(IdAt(map, 350), 1u);
  EXPECT_EQ(IdAt(map, 250), 2u);
  EXPECT_EQ(IdAt(map, 150), 3u);
}

TEST(AddressMap, JoinedMappingsStayApartWhenAnEndWasUnmapped) {
  AddressMap map;
  map.Insert(Anonymous(300, 400, 1));
  map.Insert(Anonymous(200, 350, 2));
  EXPECT_EQ(IdAt(map, 250), 2u);
  EXPECT_EQ(IdAt(map, 340), 1u);
  EXPECT_EQ(IdAt(map, 360), 1u);
}

TEST(AddressMap, MappingInsideAnOlderOneIsNew) {
  AddressMap map;
  map.Insert(Anonymous(100, 400, 1));
  map.Insert(Anonymous(200, 300, 2));
  EXPECT_EQ(IdAt(map, 150), 1u);
  EXPECT_EQ(IdAt(map, 250), 2u);
  EXPECT_EQ(IdAt(map, 350), 1u);
  map.Insert(Anonymous(200, 300, 3));
  EXPECT_EQ(IdAt(map, 250), 2u) << "told again";
}

TEST(AddressMap, WhatGrowsUpwardsStaysItself) {
  AddressMap map;
  map.Insert(Anonymous(100, 200, 1));
  map.Insert(Anonymous(100, 300, 2));
  EXPECT_EQ(IdAt(map, 250), 1u);
  EXPECT_EQ(map.size(), 1u);
}

TEST(AddressMap, OtherRightsMakeAnotherMapping) {
  AddressMap map;
  Mapping guarded = Anonymous(100, 200, 1);
  guarded.writable = false;
  map.Insert(guarded);
  map.Insert(Anonymous(100, 200, 2));
  EXPECT_EQ(IdAt(map, 150), 2u);
}

TEST(AddressMap, ManyPartsAreNotKeptApart) {
  AddressMap map;
  for (uint32_t i = 0; i < 100; ++i) map.Insert(Anonymous(i * 20, i * 20 + 10, i + 1));
  map.Insert(Anonymous(0, 2000, 1000));
  EXPECT_EQ(IdAt(map, 5), 1000u);
  EXPECT_EQ(map.size(), 1u);
}

TEST(AddressMap, CodeOfTheSameFileIsFoundOnBothSides) {
  AddressMap map;
  map.Insert(File(100, 200, 1, 1));
  map.Insert(File(200, 300, 2, 1, true));
  map.Insert(File(300, 400, 3, 1));
  map.Insert(File(400, 500, 4, 2));
  EXPECT_EQ(map.CodeOf(*map.Find(100))->id, 2u);
  EXPECT_EQ(map.CodeOf(*map.Find(300))->id, 2u);
  EXPECT_EQ(map.CodeOf(*map.Find(400)), nullptr);
  EXPECT_EQ(map.Before(*map.Find(400))->id, 3u);
  EXPECT_EQ(map.Before(*map.Find(100)), nullptr);
}

TEST(MappedFiles, NamesTellTheKindOfMemory) {
  MappedFiles files;
  const auto kind = [&](std::string_view path) {
    MmapRecord record;
    record.path = path;
    return files.Get(files.IdOf(record)).kind;
  };
  EXPECT_EQ(kind("//anon"), MappingKind::kAnonymous);
  EXPECT_EQ(kind(""), MappingKind::kAnonymous);
  EXPECT_EQ(kind("/anon_hugepage (deleted)"), MappingKind::kAnonymous);
  EXPECT_EQ(kind("[heap]"), MappingKind::kHeap);
  EXPECT_EQ(kind("[stack]"), MappingKind::kStack);
  EXPECT_EQ(kind("[vdso]"), MappingKind::kKernel);
  EXPECT_EQ(kind("/dev/shm/a"), MappingKind::kShared);
  EXPECT_EQ(kind("/usr/lib/a.so"), MappingKind::kFile);
}

}  // namespace
}  // namespace memagent::importer
