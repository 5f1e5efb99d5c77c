#include "agent/os/function_bounds.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <vector>

// Two functions whose extent the assembler knows: what FindFunction must find.
asm(R"(
    .pushsection .text
    .type bounds_test_first, @function
bounds_test_first:
    .cfi_startproc
    nop
    nop
    ret
    .cfi_endproc
bounds_test_first_end:
    .zero 16
    .type bounds_test_second, @function
bounds_test_second:
    .cfi_startproc
    .skip 300, 0x90
    ret
    .cfi_endproc
bounds_test_second_end:
    .popsection
)");
extern "C" const char bounds_test_first[], bounds_test_first_end[], bounds_test_second[],
    bounds_test_second_end[];

namespace memagent::os {
namespace {

uint64_t AddressOf(const void* p) { return reinterpret_cast<uint64_t>(p); }

std::vector<std::byte> Bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

TEST(FunctionBounds, EveryAddressOfFunctionFindsItsStartAndEnd) {
  const FunctionBounds first{AddressOf(bounds_test_first), AddressOf(bounds_test_first_end)};
  const FunctionBounds second{AddressOf(bounds_test_second), AddressOf(bounds_test_second_end)};
  EXPECT_EQ(FindFunction(first.start), first);
  EXPECT_EQ(FindFunction(first.end - 1), first);
  EXPECT_EQ(FindFunction(second.start), second);
  EXPECT_EQ(FindFunction(second.start + 150), second);
  EXPECT_EQ(FindFunction(second.end - 1), second);
}

TEST(FunctionBounds, GapBetweenFunctionsIsNoFunction) {
  EXPECT_EQ(FindFunction(AddressOf(bounds_test_first_end)), std::nullopt);
  EXPECT_EQ(FindFunction(AddressOf(bounds_test_first_end) + 15), std::nullopt);
}

TEST(FunctionBounds, LibraryFunctionStartsWhereItsSymbolSays) {
  void* symbol = dlsym(RTLD_DEFAULT, "qsort");
  ASSERT_NE(symbol, nullptr);
  const auto found = FindFunction(AddressOf(symbol) + 1);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->start, AddressOf(symbol));
}

TEST(FunctionBounds, AddressOutsideModulesIsNoFunction) {
  const std::vector<char> heap(100);
  EXPECT_EQ(FindFunction(AddressOf(heap.data())), std::nullopt);
  EXPECT_EQ(FindFunction(0), std::nullopt);
  EXPECT_EQ(FindFunction(~uint64_t{0}), std::nullopt);
}

TEST(SearchHeader, UsualEncodingsGiveTable) {
  const auto bytes = Bytes({1, 0x1b, 0x03, 0x3b, 9, 9, 9, 9, 5, 1, 0, 0});
  const auto table = ParseSearchHeader(0x1000, bytes);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->header, 0x1000u);
  EXPECT_EQ(table->first_row, 0x100cu);
  EXPECT_EQ(table->rows, 0x105u);
}

TEST(SearchHeader, OtherVersionEncodingOrLengthIsRefused) {
  const auto good = Bytes({1, 0x1b, 0x03, 0x3b, 9, 9, 9, 9, 5, 1, 0, 0});
  for (size_t i = 0; i < 4; ++i) {
    auto bad = good;
    bad[i] = std::byte{0xff};
    EXPECT_EQ(ParseSearchHeader(0, bad), std::nullopt) << "byte " << i;
  }
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(ParseSearchHeader(0, std::span(good).first(size)), std::nullopt);
  }
}

TEST(PointerEncoding, UsualAugmentationsAreRead) {
  const auto zr = Bytes({20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b});
  EXPECT_EQ(ParsePointerEncoding(zr), 0x1b);
  const auto zplr = Bytes({28, 0, 0,    0,  0, 0,    0, 0, 1, 'z', 'P',  'L', 'R',
                           0,  1, 0x78, 16, 7, 0x9b, 1, 2, 3, 4,   0x1b, 0x1b});
  EXPECT_EQ(ParsePointerEncoding(zplr), 0x1b);
  const auto none = Bytes({20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16});
  EXPECT_EQ(ParsePointerEncoding(none), 0);
}

TEST(PointerEncoding, EveryTruncationIsRefused) {
  const auto whole = Bytes({28, 0, 0,    0,  0, 0,    0, 0, 1, 'z', 'P',  'L', 'R',
                            0,  1, 0x78, 16, 7, 0x9b, 1, 2, 3, 4,   0x1b, 0x1b});
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(ParsePointerEncoding(std::span(whole).first(size)), std::nullopt) << size;
  }
}

TEST(PointerEncoding, UnknownVersionAndAugmentationAreRefused) {
  EXPECT_EQ(ParsePointerEncoding(Bytes({20, 0, 0, 0, 0, 0, 0, 0, 2, 'z', 'R', 0, 1, 1, 1, 1, 1})),
            std::nullopt);
  EXPECT_EQ(ParsePointerEncoding(Bytes({20, 0, 0, 0, 0, 0, 0, 0, 1, 'e', 'h', 0, 1, 1, 1, 1, 1})),
            std::nullopt);
}

TEST(PointerEncoding, VariableSizeHasNoByteCount) {
  EXPECT_EQ(EncodedPointerBytes(0x1b), 4u);
  EXPECT_EQ(EncodedPointerBytes(0x00), 8u);
  EXPECT_EQ(EncodedPointerBytes(0x01), std::nullopt);
}

}  // namespace
}  // namespace memagent::os
