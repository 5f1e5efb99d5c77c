// The commands as a user meets them: words in; text, JSON, sentences and exit codes out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/viewer/sample_profiles.h"
#include "viewer/advice_rules.h"
#include "viewer/commands.h"
#include "viewer/report_json.h"

namespace memagent::viewer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

// Runs in a folder of its own.
class Commands : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (std::filesystem::temp_directory_path() / "memagent.XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    before_ = std::filesystem::current_path();
    folder_ = folder;
    std::filesystem::current_path(folder_);
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

  static void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(name, std::ios::binary) << bytes;
  }

  template <typename Command>
  static Outcome Call(Command command, std::vector<std::string> args) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = command(std::move(args), out, err);
    return {code, out.str(), err.str()};
  }

  // One line that starts with our name and ends with a full stop.
  static void ExpectOneSentence(const std::string& err) {
    EXPECT_EQ(err.rfind("memagent: ", 0), 0u) << err;
    EXPECT_EQ(err.find('\n'), err.size() - 1) << err;
    EXPECT_EQ(err[err.size() - 2], '.') << err;
  }

  std::filesystem::path before_;
  std::filesystem::path folder_;
};

TEST_F(Commands, ReportJsonHasTheDocumentedKeys) {
  Write("a.memagent", StencilBytes(2));
  const Outcome result = Call(ReportCommand, {"--by", "site", "--format", "json", "a.memagent"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, IsEmpty());
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["engine"], "software");
  EXPECT_EQ(json["samples_seen"], 9962);
  EXPECT_EQ(json["attributed"], 8962);
  EXPECT_EQ(json["unattributed"]["address_unknown"], 520);
  EXPECT_EQ(json["dropped"]["ring_lost"], 3);
  ASSERT_EQ(json["threads"].size(), 4u);
  EXPECT_EQ(json["threads"][1]["name"], "worker-1");
  const Json& site = json["sites"][0];
  for (const char* key :
       {"id", "kind", "function", "file", "line", "stack", "samples", "share", "share_interval",
        "remote_samples", "remote_share", "evidence", "allocations", "frees", "bytes_allocated",
        "bytes_live", "bytes_peak", "first_touch"}) {
    EXPECT_TRUE(site.contains(key)) << key;
  }
  EXPECT_EQ(site["function"], "Grid::Grid");
  EXPECT_EQ(site["stack"][2]["function"], "main");
  EXPECT_EQ(site["remote_share"], 0.5);
  EXPECT_EQ(site["evidence"]["pc_only"], 200);
  EXPECT_EQ(site["first_touch"][0]["function"], "Grid::fill");
  EXPECT_TRUE(json["sites"][2]["remote_share"].is_null());
}

TEST_F(Commands, ReportOfOneSiteHasOnlyThat) {
  Write("a.memagent", StencilBytes(1));
  const Outcome json = Call(ReportCommand, {"--site", "S2", "--format", "json", "a.memagent"});
  ASSERT_EQ(Json::parse(json.out)["sites"].size(), 1u);
  EXPECT_EQ(Json::parse(json.out)["sites"][0]["id"], "S2");
  const Outcome text = Call(ReportCommand, {"--site", "S2", "a.memagent"});
  EXPECT_EQ(text.out.rfind("S2  read_cells", 0), 0u) << text.out;
}

TEST_F(Commands, ReportOfMissingSiteSaysWhichThereAre) {
  Write("a.memagent", StencilBytes(1));
  const Outcome result = Call(ReportCommand, {"--site", "S99", "a.memagent"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err, "memagent: there is no site S99 in a.memagent: S1 to S13.\n");
}

TEST_F(Commands, EveryGroupingHasEveryFormat) {
  Write("a.memagent", StencilBytes(2, true));
  for (const char* by : {"site", "object", "code", "thread", "node", "level"}) {
    for (const char* format : {"text", "json", "csv", "md"}) {
      const Outcome result = Call(ReportCommand, {"--by", by, "--format", format, "a.memagent"});
      EXPECT_EQ(result.code, 0) << by << format;
      EXPECT_GT(result.out.size(), 100u) << by << format;
    }
  }
}

TEST_F(Commands, FatesAreToldByCode) {
  ProfileBuilder builder;
  FillHeader(builder, 1);
  builder.header().mutable_engines(0)->set_kind(v1::Engine::PROFILEME);
  builder.header().mutable_engines(0)->set_in_use(true);
  builder.header().mutable_engines(1)->set_in_use(false);
  const uint32_t app = builder.Module("/opt/demo/stencil");
  for (const uint64_t address : {0x4010, 0x4014}) {  // two instructions of one function
    v1::CodeFate& fate = *builder.totals().add_fate();
    fate.set_frame(builder.Instruction(app, address, "sweep"));
    fate.set_samples(50);
    fate.set_retired(30);
    fate.add_trap(6);
    fate.add_trapped(20);
  }
  builder.totals().mutable_accounting()->set_samples_seen(100);
  AddReason(*builder.totals().mutable_accounting()->add_unattributed(), "no_data_address", 100);
  Write("a.memagent", builder.Bytes());
  const Outcome json = Call(ReportCommand, {"--by", "fate", "--format", "json", "a.memagent"});
  const Json fates = Json::parse(json.out)["fates"];
  ASSERT_EQ(fates.size(), 1u);
  EXPECT_EQ(fates[0]["function"], "sweep");
  EXPECT_EQ(fates[0]["samples"], 100);
  EXPECT_EQ(fates[0]["trapped"], 40);
  EXPECT_EQ(fates[0]["worst_trap"], "DTB miss");
  EXPECT_THAT(Call(ReportCommand, {"--by", "fate", "a.memagent"}).out, HasSubstr("40.0 %"));
  EXPECT_THAT(Call(ReportCommand, {"a.memagent"}).out, HasSubstr("no data addresses"));
  Write("b.memagent", StencilBytes(1));
  EXPECT_THAT(Call(ReportCommand, {"--by", "fate", "b.memagent"}).out,
              HasSubstr("No fate is known"));
}

TEST_F(Commands, LevelsAreThoseThatHardwareTold) {
  Write("a.memagent", StencilBytes(2, true));
  const Outcome result = Call(ReportCommand, {"--by", "level", "--format", "json", "a.memagent"});
  const Json levels = Json::parse(result.out)["levels"];
  ASSERT_EQ(levels.size(), 5u);
  EXPECT_EQ(levels[0]["level"], "DRAM");
  EXPECT_EQ(levels[0]["page"], "far");
  EXPECT_EQ(levels[0]["samples"], 3380);
  EXPECT_EQ(levels[0]["latency_mean_cycles"], 320.0);
  Write("b.memagent", StencilBytes(2));
  EXPECT_THAT(Call(ReportCommand, {"--by", "level", "b.memagent"}).out,
              HasSubstr("No level is known"));
}

TEST_F(Commands, WithoutFileTheNewestProfileIsReadAndNamed) {
  Write("old.memagent", StencilBytes(1));
  Write("new.memagent", StencilBytes(2));
  std::filesystem::last_write_time(
      "old.memagent", std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const Outcome result = Call(ReportCommand, {});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "memagent: reading new.memagent, the newest profile in this folder.\n");
  EXPECT_THAT(result.out, HasSubstr("2 nodes"));
}

TEST_F(Commands, WithoutFileAndProfilesTheRemedyIsNamed) {
  const Outcome result = Call(ReportCommand, {});
  EXPECT_EQ(result.code, 2);
  ExpectOneSentence(result.err);
  EXPECT_THAT(result.err, HasSubstr("memagent run"));
}

TEST_F(Commands, UnreadableInputIsExitCodeTwo) {
  Write("empty.memagent", "");
  Write("text.memagent", "this is no profile\n");
  for (const char* file : {"missing.memagent", "empty.memagent", "text.memagent", "."}) {
    const Outcome result = Call(InfoCommand, {file});
    EXPECT_EQ(result.code, 2) << file;
    EXPECT_THAT(result.out, IsEmpty()) << file;
    ExpectOneSentence(result.err);
    EXPECT_EQ(Call(DumpCommand, {file}).code, 2) << file;
    EXPECT_EQ(Call(DiffCommand, {file, file}).code, 2) << file;
  }
}

TEST_F(Commands, TruncatedProfileIsReportedWithAWarning) {
  const std::string bytes = StencilBytes(1);
  Write("cut.memagent", bytes.substr(0, bytes.size() - 3));
  const Outcome result = Call(ReportCommand, {"cut.memagent"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("ends in the middle of a record"));
  EXPECT_THAT(result.out, HasSubstr("quality fair"));
}

TEST_F(Commands, WrongWordsAreExitCodeTwo) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--format", "xml"}, {"--bogus"}, {"a", "b"}, {"--width", "wide"}, {"--top", "0"}}) {
    const Outcome result = Call(ReportCommand, words);
    EXPECT_EQ(result.code, 2) << words[0];
    ExpectOneSentence(result.err);
    EXPECT_THAT(result.err, HasSubstr("memagent report --help"));
  }
  EXPECT_EQ(Call(DiffCommand, {"only-one"}).code, 2);
}

TEST_F(Commands, HelpGoesToStandardOutput) {
  const Outcome result = Call(ReportCommand, {"--help"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("--site"));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(Commands, InfoJsonHasAccountingButNoSites) {
  Write("a.memagent", StencilBytes(1));
  const Json json = Json::parse(Call(InfoCommand, {"--format", "json", "a.memagent"}).out);
  EXPECT_EQ(json["engines"].size(), 2u);
  EXPECT_EQ(json["engines"][0]["refused_errno"], 2);
  EXPECT_FALSE(json.contains("sites"));
}

TEST_F(Commands, AdviseTellsThePlacementAndTheCommandToTryIt) {
  Write("a.memagent", StencilBytes(2));
  const Outcome text = Call(AdviseCommand, {"a.memagent"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.err, IsEmpty());
  EXPECT_THAT(text.out, HasSubstr("memagent run --place 'S1@a.memagent=block' -- ./stencil 4096"));
  EXPECT_THAT(text.out, HasSubstr("memagent run --place-from a.memagent -- ./stencil 4096"));
  const Json json = Json::parse(Call(AdviseCommand, {"--format", "json", "a.memagent"}).out);
  const Json& site = json["sites"][0];
  EXPECT_EQ(site["pattern"]["class"], "blocked");
  EXPECT_EQ(site["causes"][0]["cause"], "touched_elsewhere");
  EXPECT_EQ(site["causes"][0]["samples"], site["remote_samples"]);
  EXPECT_EQ(site["advice"][0]["kind"], "block");
  EXPECT_EQ(site["advice"][0]["rule"], "S1@a.memagent=block");
  EXPECT_EQ(site["advice"][0]["remote_share"]["now"], 0.5);
  EXPECT_EQ(site["advice"][0]["remote_share"]["predicted"], 0.0);
}

TEST_F(Commands, AdviseOfOneSiteHasOnlyThat) {
  Write("a.memagent", StencilBytes(2));
  const Outcome result = Call(AdviseCommand, {"--site", "S2", "--format", "json", "a.memagent"});
  ASSERT_EQ(Json::parse(result.out)["sites"].size(), 1u);
  EXPECT_EQ(Json::parse(result.out)["sites"][0]["advice"][0]["kind"], "nothing");
  const Outcome missing = Call(AdviseCommand, {"--site", "S99", "a.memagent"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_EQ(missing.err, "memagent: there is no site S99 in a.memagent: S1 to S13.\n");
}

TEST_F(Commands, AdviseOnOneNodeSaysThatNothingCanHelp) {
  Write("a.memagent", StencilBytes(1));
  EXPECT_THAT(Call(AdviseCommand, {"a.memagent"}).out, HasSubstr("no placement can help here"));
}

TEST_F(Commands, RulesAreThoseOfTheAdvice) {
  Write("a.memagent", StencilBytes(2));
  std::string error;
  size_t left_out = 0;
  EXPECT_EQ(PlacementRules("a.memagent", 64, left_out, error),
            std::vector<std::string>{"S1@a.memagent=block"});
  EXPECT_EQ(error, "");
  EXPECT_EQ(left_out, 0u);
  EXPECT_TRUE(PlacementRules("none.memagent", 64, left_out, error).empty());
  EXPECT_NE(error, "");
}

TEST_F(Commands, DumpPrintsEveryChunk) {
  Write("a.memagent", StencilBytes(1));
  const Outcome result = Call(DumpCommand, {"a.memagent"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("executable: \"/opt/demo/stencil\""));
  EXPECT_THAT(result.out, HasSubstr("how: \"exit\""));
}

TEST_F(Commands, DiffJsonComparesSiteBySite) {
  Write("a.memagent", StencilBytes(1));
  Write("b.memagent", StencilBytes(1));
  const Outcome result = Call(DiffCommand, {"--format", "json", "a.memagent", "b.memagent"});
  EXPECT_EQ(result.code, 0);
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["comparable"], true);
  EXPECT_EQ(json["matched"]["by_call_stack"], 11);
  EXPECT_EQ(json["matched"]["by_name"], 2);
  EXPECT_EQ(json["sites"][0]["verdict"], "same");
  EXPECT_EQ(json["sites"][0]["share"]["change"], 0.0);
}

TEST_F(Commands, DiffTakesSeveralRunsOnEachSide) {
  for (const char* name : {"a", "b", "c", "d"}) Write(name, StencilBytes(2));
  const Outcome result = Call(DiffCommand, {"a", "b", "--vs", "c", "d", "--format", "json"});
  EXPECT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["runs_before"].size(), 2u);
  EXPECT_EQ(json["runs_after"][1]["file"], "d");
  EXPECT_EQ(json["wall"]["change_interval"][0], 0.0);
}

TEST_F(Commands, DiffOfOneOrThreeSaysHow) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"a"}, {"a", "b", "c"}}) {
    const Outcome result = Call(DiffCommand, words);
    EXPECT_EQ(result.code, 2);
    ExpectOneSentence(result.err);
    EXPECT_THAT(result.err, HasSubstr("--vs"));
  }
}

TEST_F(Commands, DiffFailsWhenAConditionHolds) {
  Write("a", StencilBytes(2));
  Write("b", StencilBytes(2));
  EXPECT_EQ(Call(DiffCommand, {"a", "b", "--fail-if", "S*.remote>+5"}).code, 0);
  const Outcome held =
      Call(DiffCommand, {"a", "b", "--fail-if", "S1.remote<+5", "--fail-if", "*.verdict=worse"});
  EXPECT_EQ(held.code, 1);
  ExpectOneSentence(held.err);
  EXPECT_THAT(held.err, HasSubstr("S1.remote<+5: S1 Grid::Grid changed by +0.0 points"));
  EXPECT_THAT(held.out, HasSubstr("remote share"));
}

TEST_F(Commands, DiffWithAConditionThatIsNoneIsExitCodeTwo) {
  Write("a", StencilBytes(1));
  for (const char* text : {"S1.remote", "S1.remote>5", "S77.share>+1", "S1.remote>+5"}) {
    const Outcome result = Call(DiffCommand, {"a", "a", "--fail-if", text});
    EXPECT_EQ(result.code, 2) << text;
    ExpectOneSentence(result.err);
  }
}

}  // namespace
}  // namespace memagent::viewer
