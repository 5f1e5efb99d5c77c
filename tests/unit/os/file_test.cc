#include "agent/os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include "tests/support/temp_tree.h"

namespace memagent::os {
namespace {

TEST(UniqueFd, MissingFileKeepsItsErrno) {
  const UniqueFd fd = OpenRead("/nonexistent/file");
  EXPECT_FALSE(fd.valid());
  EXPECT_EQ(fd.error(), ENOENT);
}

TEST(UniqueFd, DescriptorIsClosedAtTheEnd) {
  int number = -1;
  {
    const UniqueFd fd = OpenRead("/dev/null");
    ASSERT_TRUE(fd.valid());
    number = fd.get();
    EXPECT_EQ(fcntl(number, F_GETFD), FD_CLOEXEC);
  }
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
}

TEST(UniqueFd, MoveLeavesOneOwner) {
  UniqueFd a = OpenRead("/dev/null");
  const int number = a.get();
  UniqueFd b = std::move(a);
  EXPECT_EQ(b.get(), number);
  EXPECT_EQ(a.error(), EBADF);  // NOLINT: what a moved-from one says is its contract
}

TEST(ReadWholeFile, LongerThanOneReadIsWhole) {
  testing::TempTree tree;
  std::string text;
  for (int i = 0; i < 30000; ++i) text += std::to_string(i);
  const std::string path = tree.Write("long", text);
  const auto read = ReadWholeFile(path.c_str(), text.size());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(std::string_view(*read), text);
}

TEST(ReadWholeFile, LongerThanAllowedIsNothing) {
  testing::TempTree tree;
  const std::string path = tree.Write("five", "12345");
  EXPECT_TRUE(ReadWholeFile(path.c_str(), 5).has_value());
  EXPECT_FALSE(ReadWholeFile(path.c_str(), 4).has_value());
  EXPECT_EQ(*ReadFileHead(path.c_str(), 4), "1234");
}

TEST(ReadWholeFile, FolderIsNothing) { EXPECT_FALSE(ReadWholeFile("/proc", 100).has_value()); }

TEST(ReadNumberFile, OnlyOneNumberIsGood) {
  testing::TempTree tree;
  EXPECT_EQ(ReadNumberFile(tree.Write("a", "-1\n").c_str()), -1);
  EXPECT_EQ(ReadNumberFile(tree.Write("b", "100000\n").c_str()), 100000);
  for (const char* bad : {"", "\n", "x\n", "1 2\n", "99999999999999999999\n", "0x10"}) {
    EXPECT_FALSE(ReadNumberFile(tree.Write("c", bad).c_str()).has_value()) << bad;
  }
}

TEST(ParseUnsigned, SignsBlanksAndOverflowAreNothing) {
  EXPECT_EQ(ParseUnsigned("ffffffffffffffff", 16), UINT64_MAX);
  for (const char* bad : {"", "-1", "+1", " 1", "1 ", "18446744073709551616"}) {
    EXPECT_FALSE(ParseUnsigned(bad).has_value()) << bad;
  }
}

TEST(TakeUntil, LastPartEndsTheText) {
  std::string_view text = "a,b";
  EXPECT_EQ(TakeUntil(text, ','), "a");
  EXPECT_EQ(TakeUntil(text, ','), "b");
  EXPECT_TRUE(text.empty());
}

TEST(JoinPath, NumberStandsBetween) {
  EXPECT_EQ(JoinPath("/sys", "/node", 12, "/cpulist"), "/sys/node12/cpulist");
}

}  // namespace
}  // namespace memagent::os
