#include "viewer/text.h"

#include <gtest/gtest.h>

#include <string>

#include "viewer/terminal.h"

namespace memagent::viewer {
namespace {

TEST(Printable, EscapeSequencesLoseTheirEscape) {
  EXPECT_EQ(Printable("a\x1b[31mb\x1b]0;title\x07", Charset::kUtf8), "a?[31mb?]0;title?");
}

TEST(Printable, NewlinesTabsAndNulBecomeQuestionMarks) {
  EXPECT_EQ(Printable(std::string_view("a\nb\tc\0d\r", 8), Charset::kUtf8), "a?b?c?d?");
}

TEST(Printable, EightBitControlsBecomeQuestionMarks) {
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m",
                      Charset::kUtf8),
            "?31m");  // U+009B, CSI
}

TEST(Printable, DirectionOverridesBecomeQuestionMarks) {
  EXPECT_EQ(Printable("a\u202e\u2066b\u200b", Charset::kUtf8), "a??b?");
}

TEST(Printable, BytesThatAreNotUtf8BecomeQuestionMarks) {
  EXPECT_EQ(Printable("\xff\xc0\xaf\xed\xa0\x80\xf5", Charset::kUtf8), "???????");
  EXPECT_EQ(Printable("\xe2\x82", Charset::kUtf8), "??");
}

TEST(Printable, OrdinaryLettersStayInUtf8AndGoInAscii) {
  EXPECT_EQ(Printable("größe", Charset::kUtf8), "größe");
  EXPECT_EQ(Printable("größe", Charset::kAscii), "gr??e");
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(DisplayWidth("größe"), 5u);
  EXPECT_EQ(DisplayWidth("日本"), 4u);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1u);
}

TEST(Truncate, KeepsWhatFitsAndMarksTheCut) {
  EXPECT_EQ(Truncate("abcdef", 6, Charset::kUtf8), "abcdef");
  EXPECT_EQ(Truncate("abcdef", 4, Charset::kUtf8), "abc…");
  EXPECT_EQ(Truncate("abcdef", 4, Charset::kAscii), "abc~");
  EXPECT_EQ(TruncateFront("abcdef", 4, Charset::kUtf8), "…def");
  EXPECT_EQ(Truncate("abcdef", 0, Charset::kUtf8), "");
}

TEST(Truncate, NeverCutsInsideACharacter) {
  EXPECT_EQ(Truncate("日本語", 4, Charset::kUtf8), "日…");
}

TEST(HumanBytes, ThreeDigitsInEveryUnit) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(1023), "1023 B");
  EXPECT_EQ(HumanBytes(1024), "1.00 KiB");
  EXPECT_EQ(HumanBytes(uint64_t{64} << 20), "64.0 MiB");
  EXPECT_EQ(HumanBytes(1023u << 10), "1.00 MiB");
  EXPECT_EQ(HumanBytes(~uint64_t{0}), "16.0 EiB");
}

TEST(HumanCount, ThreeDigitsInEveryUnit) {
  EXPECT_EQ(HumanCount(999), "999");
  EXPECT_EQ(HumanCount(42'100), "42.1k");
  EXPECT_EQ(HumanCount(999'999), "1.00M");
  EXPECT_EQ(HumanCount(~uint64_t{0}), "18.4E");
}

TEST(GroupedCount, CommasEveryThreeDigits) {
  EXPECT_EQ(GroupedCount(7), "7");
  EXPECT_EQ(GroupedCount(1'048'576), "1,048,576");
}

TEST(HumanDuration, UnitFollowsTheSize) {
  EXPECT_EQ(HumanDuration(12), "12 ns");
  EXPECT_EQ(HumanDuration(850'000), "850 us");
  EXPECT_EQ(HumanDuration(12'500'000), "12.5 ms");
  EXPECT_EQ(HumanDuration(41'200'000'000), "41.2 s");
  EXPECT_EQ(HumanDuration(200'000'000'000), "3 min 20 s");
  EXPECT_EQ(HumanDuration(7'320'000'000'000), "2 h 2 min");
}

TEST(Percent, SmallButNotNothingIsSaid) {
  EXPECT_EQ(Percent(0), "0.0 %");
  EXPECT_EQ(Percent(0.0001), "<0.1 %");
  EXPECT_EQ(Percent(0.466), "46.6 %");
}

TEST(Wrap, BreaksAtSpacesWithHangingIndent) {
  EXPECT_EQ(Wrap("aa bb cc", 5, 0), "aa bb\ncc");
  EXPECT_EQ(Wrap("aa bb cc", 7, 2), "aa bb\n  cc");
  EXPECT_EQ(Wrap("longer", 3, 0), "longer");
}

TEST(Wrap, NumberAndUnitStayTogether) {
  EXPECT_EQ(Wrap("aaa 512 KiB, b", 8, 0), "aaa\n512 KiB,\nb");
}

TEST(Terminal, PaintsOnlyWithColor) {
  Terminal terminal;
  EXPECT_EQ(terminal.Paint("x", Ink::kBold), "x");
  terminal.color = true;
  EXPECT_EQ(terminal.Paint("x", Ink::kBold), "\x1b[1mx\x1b[0m");
  EXPECT_EQ(terminal.Paint("x", Ink::kPlain), "x");
}

}  // namespace
}  // namespace memagent::viewer
