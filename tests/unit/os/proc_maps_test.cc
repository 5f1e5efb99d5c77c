#include "agent/os/proc_maps.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>
#include <thread>

namespace memagent::os {
namespace {

TEST(ProcMaps, FileLineIsSplitIntoItsFields) {
  const auto m = ParseMapsLine(
      "7f1200000000-7f1200021000 r-xp 0001a000 fe:01 1234                      /usr/lib/libm.so.6");
  ASSERT_TRUE(m.has_value());
  EXPECT_EQ(m->start, 0x7f1200000000u);
  EXPECT_EQ(m->end, 0x7f1200021000u);
  EXPECT_TRUE(m->readable && m->executable);
  EXPECT_FALSE(m->writable || m->shared || m->deleted);
  EXPECT_EQ(m->file_offset, 0x1a000u);
  EXPECT_EQ(m->device_major, 0xfeu);
  EXPECT_EQ(m->device_minor, 1u);
  EXPECT_EQ(m->inode, 1234u);
  EXPECT_EQ(m->path, "/usr/lib/libm.so.6");
}

TEST(ProcMaps, AnonymousLineHasNoPath) {
  const auto m = ParseMapsLine("00400000-00401000 rw-s 00000000 00:00 0 ");
  ASSERT_TRUE(m.has_value());
  EXPECT_TRUE(m->path.empty());
  EXPECT_TRUE(m->shared);
  EXPECT_TRUE(ParseMapsLine("00400000-00401000 rw-s 00000000 00:00 0").has_value());
}

TEST(ProcMaps, PathKeepsItsBlanks) {
  const auto m = ParseMapsLine("1000-2000 r--p 0 0:0 7    /tmp/a file  with (odd) name");
  ASSERT_TRUE(m.has_value());
  EXPECT_EQ(m->path, "/tmp/a file  with (odd) name");
}

TEST(ProcMaps, DeletedFileKeepsPath) {
  const auto m = ParseMapsLine("1000-2000 r--p 0 0:0 7    /tmp/gone.so (deleted)");
  ASSERT_TRUE(m.has_value());
  EXPECT_TRUE(m->deleted);
  EXPECT_EQ(m->path, "/tmp/gone.so");
}

TEST(ProcMaps, PathLongerThanAPageIsKept) {
  const std::string path = "/" + std::string(9000, 'x');
  const std::string line = "1000-2000 r--p 0 0:0 7 " + path;
  EXPECT_EQ(ParseMapsLine(line)->path, path);
}

TEST(ProcMaps, HighestAddressesAreAccepted) {
  const auto m = ParseMapsLine(
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]");
  ASSERT_TRUE(m.has_value());
  EXPECT_EQ(m->path, "[vsyscall]");
}

TEST(ProcMaps, BrokenLinesAreRefused) {
  for (const char* bad :
       {"", "x", "1000", "1000-", "-2000 r--p 0 0:0 0", "2000-1000 r--p 0 0:0 0",
        "1000-1000 r--p 0 0:0 0", "1000-2000", "1000-2000 r--", "1000-2000 r--x 0 0:0 0",
        "1000-2000 w--p 0 0:0 0", "1000-2000 r--p", "1000-2000 r--p 0 00 0", "1000-2000 r--p 0 0:0",
        "1000-2000 r--p 0 0:0 x", "1000-2000 r--p z 0:0 0", "10000000000000000-2 r--p 0 0:0 0",
        "1000-2000 r--p 0 100000000:0 0"}) {
    EXPECT_FALSE(ParseMapsLine(bad).has_value()) << bad;
  }
}

TEST(ProcMaps, BadLinesAreCountedAndGoodOnesKept) {
  size_t good = 0;
  const size_t bad = ForEachMapping("1000-2000 r--p 0 0:0 0\nrubbish\n2000-3000 r--p 0 0:0 0",
                                    [&](const Mapping&) { ++good; });
  EXPECT_EQ(good, 2u);
  EXPECT_EQ(bad, 1u);
}

// The mapping that holds `address`, in the maps of this process.
std::string OwnMappingOf(const void* address, size_t* bad) {
  const auto text = ReadOwnMaps();
  std::string found = "none";
  if (!text) return "unreadable";
  *bad = ForEachMapping(*text, [&](const Mapping& m) {
    const auto wanted = reinterpret_cast<uint64_t>(address);
    if (m.start <= wanted && wanted < m.end) {
      found = std::string(m.path) + (m.executable ? " x" : "") + (m.writable ? " w" : "");
    }
  });
  return found;
}

TEST(ProcMaps, OwnMapsHaveOurCodeAndStack) {
  size_t bad = 1;
  int local = 0;
  EXPECT_EQ(OwnMappingOf(&local, &bad), "[stack] w");
  EXPECT_EQ(bad, 0u);
  const auto* code = reinterpret_cast<const void*>(&OwnMappingOf);
  EXPECT_NE(OwnMappingOf(code, &bad).find("os_test x"), std::string::npos);
}

TEST(ProcMaps, OwnMapsWorkInAThread) {
  std::string found;
  std::thread([&] {
    size_t bad = 1;
    found = OwnMappingOf(reinterpret_cast<const void*>(&OwnMappingOf), &bad);
  }).join();
  EXPECT_NE(found.find("os_test x"), std::string::npos);
}

}  // namespace
}  // namespace memagent::os
