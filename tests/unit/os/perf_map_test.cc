#include "agent/os/perf_map.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

namespace memagent::os {
namespace {

class PerfMapTest : public testing::Test {
 protected:
  // No process has such a number (kernel.pid_max is at most 2^22), and no test running beside this
  // one takes it.
  const int32_t pid_ = 2'000'000'000 + getpid();
  const std::string path_ = "/tmp/perf-" + std::to_string(pid_) + ".map";
  const std::string target_ = "/tmp/perf-" + std::to_string(pid_) + ".target";

  void SetUp() override { std::filesystem::remove(path_); }
  void TearDown() override { std::filesystem::remove(path_); }
};

TEST(PerfMapLine, NameIsTheRest) {
  const auto line = ParsePerfMapLine("7f00aa10 1c0 LazyCompile:*run /app/a b.js:3:1\n");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->start, 0x7f00aa10u);
  EXPECT_EQ(line->size_bytes, 0x1c0u);
  EXPECT_EQ(line->name, "LazyCompile:*run /app/a b.js:3:1");
}

TEST(PerfMapLine, NonsenseIsRefused) {
  for (const char* bad :
       {"", " ", "1 2", "1 2 ", "x 2 f", "1 x f", "-1 2 f", "1  2 f", "11111111111111111 1 f"}) {
    EXPECT_FALSE(ParsePerfMapLine(bad)) << bad;
  }
}

TEST_F(PerfMapTest, LastLineThatCoversAnAddressNamesIt) {
  std::ofstream(path_) << "1000 10 first\n1008 10 second\nnonsense\n"
                       << std::string(200'000, 'x')
                       << "\nfffffffffffffff0 ff last\n3000 0 empty\n4000 1 unfinished";
  constexpr std::array<uint64_t, 6> kAddresses = {0xfff,  0x1004, 0x100f,
                                                  0x1018, 0x3000, ~uint64_t{0}};
  const auto names = ReadPerfMap(pid_, kAddresses);
  ASSERT_EQ(names.size(), kAddresses.size());
  EXPECT_EQ(names[0].name, "");
  EXPECT_EQ(names[1].name, "first");
  EXPECT_EQ(names[1].offset, 4u);
  EXPECT_EQ(names[2].name, "second");
  EXPECT_EQ(names[3].name, "");
  EXPECT_EQ(names[4].name, "");
  EXPECT_EQ(names[5].name, "last");
}

TEST_F(PerfMapTest, WhatAnotherUserMayHavePlantedIsNotRead) {
  constexpr std::array<uint64_t, 1> kAddresses = {0x1000};
  EXPECT_EQ(ReadPerfMap(pid_, kAddresses)[0].name, "");
  std::ofstream(target_) << "1000 10 planted\n";
  std::filesystem::create_symlink(target_, path_);
  EXPECT_EQ(ReadPerfMap(pid_, kAddresses)[0].name, "");
  std::filesystem::remove(target_);
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  std::filesystem::remove(path_);
  std::ofstream(path_) << "1000 10 planted\n";
  ASSERT_EQ(chown(path_.c_str(), 65534, 65534), 0);
  const bool root_believes = ReadPerfMap(pid_, kAddresses)[0].name == "planted";
  EXPECT_FALSE(root_believes);
}

}  // namespace
}  // namespace memagent::os
