// What report and info say of an imported profile: nothing that only an agent could know.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/import/import_fixture.h"
#include "viewer/import/import_command.h"
#include "viewer/info_text.h"
#include "viewer/query.h"
#include "viewer/report_text.h"

namespace memagent::importer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

viewer::View ViewOf(const std::vector<Sample>& samples) {
  PerfDataBuilder file = IntelMachine();
  for (const Sample& sample : samples) file.Add(Record(sample));
  return viewer::BuildView(ImportBytes(file.File()).profile);
}

std::string Report(const viewer::View& view) {
  return viewer::ReportText(view, {.site = "", .all = true, .top = 10, .profile = "p"},
                            viewer::Terminal{.width = 140});
}

TEST(ImportedReport, MappingsHaveSizeAndAddressAndNoAllocations) {
  const std::string text = Report(ViewOf({{.address = 0x7f0000000800}}));
  EXPECT_THAT(text, HasSubstr("SIZE"));
  EXPECT_THAT(text, HasSubstr("[anonymous mapping] 0x7f0000000000"));
  EXPECT_THAT(text, HasSubstr("1.00 MiB"));
  EXPECT_THAT(text, HasSubstr("page faults were not recorded"));
  for (const char* word : {"PEAK", "LIVE", "ALLOCS", "own cost", "rate="}) {
    EXPECT_THAT(text, Not(HasSubstr(word)));
  }
}

TEST(ImportedReport, WithoutPagesThereAreNoRemoteColumns) {
  const std::string without = Report(ViewOf({{.address = 0x800100}}));
  EXPECT_THAT(without, HasSubstr("Where the pages lie was not recorded"));
  EXPECT_THAT(without, Not(HasSubstr("REMOTE")));
  const std::string with = Report(ViewOf({{.address = 0x800100, .physical = 3u << 29}}));
  EXPECT_THAT(with, HasSubstr("REMOTE"));
  EXPECT_THAT(with, HasSubstr("another node's memory"));
}

TEST(ImportedReport, InfoTellsTheOriginAndNoCostOfAnAgent) {
  const std::string text =
      viewer::InfoText(ViewOf({{.address = 0x800100}}), viewer::Terminal{.width = 140});
  EXPECT_THAT(text, HasSubstr("imported from   perf.data"));
  EXPECT_THAT(text, HasSubstr("host            box"));
  EXPECT_THAT(text, HasSubstr("cpu/mem-loads,ldlat=30/P 1 record"));
  for (const char* word :
       {"Cost of the agent", "1970", "perf_event_paranoid", "child of", "ran "}) {
    EXPECT_THAT(text, Not(HasSubstr(word)));
  }
}

TEST(ImportCommand, OutputIsNamedAfterTheInputInThisFolder) {
  EXPECT_EQ(DefaultOutput("perf.data"), "perf.memagent");
  EXPECT_EQ(DefaultOutput("/some/where/run7.data"), "run7.memagent");
  EXPECT_EQ(DefaultOutput("perf.data.old"), "perf.data.old.memagent");
  EXPECT_EQ(DefaultOutput("-"), "perf.memagent");
}

}  // namespace
}  // namespace memagent::importer
