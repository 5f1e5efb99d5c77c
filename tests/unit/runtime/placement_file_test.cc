#include "agent/runtime/placement_file.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace memagent::runtime {
namespace {

struct Warnings {
  std::vector<std::string> texts;
  static void Add(void* context, std::string_view what, std::string_view reason) {
    static_cast<Warnings*>(context)->texts.push_back(std::string(what) + ": " +
                                                     std::string(reason));
  }
};

TEST(PlacementFile, RulesAreTakenAndBadLinesToldOf) {
  std::array<base::PlacementRule, 4> rules;
  Warnings warnings;
  const size_t count =
      ParsePlacementRules("# a comment\n\na\tb\tlocal\tstack\t*\nnonsense\nc\td\tbind:1\tany\t*",
                          rules, Warnings::Add, &warnings);
  ASSERT_EQ(count, 2u);
  EXPECT_EQ(rules[0].text, "a");
  EXPECT_EQ(rules[1].text, "c");
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_EQ(warnings.texts[0].substr(0, 10), "nonsense: ");
}

TEST(PlacementFile, MoreRulesThanThereIsRoomForAreToldOfOnce) {
  std::array<base::PlacementRule, 1> rules;
  Warnings warnings;
  EXPECT_EQ(ParsePlacementRules("a\tb\tlocal\tstack\t*\nc\td\thuge\tany\t*\ne\tf\thuge\tany\t*\n",
                                rules, Warnings::Add, &warnings),
            1u);
  EXPECT_EQ(warnings.texts.size(), 1u);
}

TEST(PlacementFile, FileThatCannotBeReadIsToldOf) {
  Warnings warnings;
  LoadPlacementFile("/no/such/file", Warnings::Add, &warnings);
  ASSERT_EQ(warnings.texts.size(), 1u);
  EXPECT_EQ(warnings.texts[0], "place: the file can't be read");
}

}  // namespace
}  // namespace memagent::runtime
