#include "agent/profile/output_name.h"

#include <errno.h>
#include <gtest/gtest.h>

namespace memagent::profile {
namespace {

OutputFacts Facts() { return {"app", 42, "node7", 1700000000, "3", "/home/me"}; }

TEST(OutputName, EveryLetterIsExpanded) {
  EXPECT_EQ(ExpandPattern("/out/%e.%p.%h.%t.%r.%%", Facts()), "/out/app.42.node7.1700000000.3.%");
}

TEST(OutputName, RelativePatternStartsInTheWorkingDirectory) {
  EXPECT_EQ(ExpandPattern("%e.%p.memagent", Facts()), "/home/me/app.42.memagent");
  OutputFacts at_root = Facts();
  at_root.working_directory = "/";
  EXPECT_EQ(ExpandPattern("x", at_root), "/x");
}

TEST(OutputName, UnknownLetterAndLastPercentStay) {
  EXPECT_EQ(ExpandPattern("/a%z%", Facts()), "/a%z%");
  EXPECT_EQ(ExpandPattern("/%%p", Facts()), "/%p");
}

TEST(OutputName, SlashInAValueAddsNoFolder) {
  OutputFacts facts = Facts();
  facts.program = "../../etc/x";
  EXPECT_EQ(ExpandPattern("/out/%e", facts), "/out/.._.._etc_x");
}

TEST(OutputName, EmptyPatternIsTheFolderItself) {
  EXPECT_EQ(ExpandPattern("", Facts()), "/home/me/");
}

TEST(OutputName, NumberGoesBeforeOurSuffix) {
  EXPECT_EQ(NumberedName("/a/b.memagent", 0), "/a/b.memagent");
  EXPECT_EQ(NumberedName("/a/b.memagent", 12), "/a/b.12.memagent");
  EXPECT_EQ(NumberedName("/a/b", 1), "/a/b.1");
}

TEST(OutputName, SentencesNameCauseAndRemedy) {
  EXPECT_EQ(Describe(FileProblem::kNone, 0, "/a"), "");
  EXPECT_EQ(Describe(ProblemOf(ENOENT), ENOENT, "/a/b"),
            "Cannot write the profile /a/b: its folder does not exist; create it, or name another "
            "place with output=.");
  EXPECT_EQ(Describe(ProblemOf(EIO), EIO, "/a/b"),
            "Cannot write the profile /a/b: the system refused it (errno 5).");
}

}  // namespace
}  // namespace memagent::profile
