// Names that try to act on the terminal, in every place a profile has for text.
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "tests/unit/viewer/placed_site.h"
#include "viewer/advice_rules.h"
#include "viewer/advise_text.h"
#include "viewer/breakdown.h"
#include "viewer/diff_json.h"
#include "viewer/diff_text.h"
#include "viewer/info_text.h"
#include "viewer/report_json.h"
#include "viewer/report_text.h"

namespace memagent::viewer {
namespace {

const std::string& Hostile() {
  static constexpr char kBytes[] = "\x1b[2Jx\n\xc2\x9b\xff\x07y\u202e\0|,\"z";
  static const std::string text(kBytes, sizeof kBytes - 1);
  return text;
}

// The stencil with every string of every record replaced.
View HostileView() {
  View view = ViewOf(StencilBytes(2));
  const std::string& bad = Hostile();
  profile::Profile& profile = view.profile;
  for (std::string& text : profile.strings) text = bad;
  v1::Process& process = *profile.header.mutable_process();
  process.set_executable(bad);
  process.set_working_directory(bad);
  process.set_host(bad);
  for (std::string& argument : *process.mutable_arguments()) argument = bad;
  v1::Machine& machine = *profile.header.mutable_machine();
  for (std::string* text : {machine.mutable_architecture(), machine.mutable_cpu_model(),
                            machine.mutable_microcode(), machine.mutable_hypervisor()}) {
    *text = bad;
  }
  for (v1::Node& node : *machine.mutable_nodes()) node.set_cpu_list(bad);
  profile.header.mutable_kernel()->set_release(bad);
  profile.header.mutable_kernel()->set_transparent_hugepage(bad);
  for (v1::Engine& engine : *profile.header.mutable_engines()) {
    for (std::string* text :
         {engine.mutable_event(), engine.mutable_period_unit(), engine.mutable_exact_attr(),
          engine.mutable_refused(), engine.mutable_remedy()}) {
      *text = bad;
    }
    engine.set_rate_hz(0);
  }
  profile.header.set_options(bad);
  profile.header.set_agent_version(bad);
  profile.accounting.mutable_unattributed(0)->set_reason(bad);
  profile.accounting.mutable_dropped(0)->set_reason(bad);
  for (profile::Thread& thread : profile.threads) thread.total.set_not_sampled(bad);
  v1::PolicyCount& policy = *profile.sites.at(1).total.add_policy();
  policy.set_mode(bad);
  policy.add_node(0);
  policy.set_pages(1);
  v1::PlacementCall& call = profile.placement_calls.emplace_back();
  call.set_call(bad);
  call.set_mode(bad);
  call.set_site(1);
  call.set_calls(1);
  profile.own_cost.set_page_node_rung(bad);
  profile.footer->set_how(bad);
  v1::Event event;
  event.set_text(bad);
  profile.events.push_back(event);
  event.clear_text();
  event.set_code(bad);
  profile.events.push_back(event);
  return BuildView(std::move(profile), {.lines = true});
}

// Newline and printable characters only, of the given set.
void ExpectHarmless(const std::string& text, Charset charset, const char* what) {
  std::string without_newlines = text;
  std::erase(without_newlines, '\n');
  EXPECT_EQ(Printable(without_newlines, charset), without_newlines) << what;
  EXPECT_EQ(text.find("x\n"), std::string::npos) << what << ": a name broke a line";
}

TEST(Hostile, NamesCannotActOnTheTerminal) {
  const View view = HostileView();
  for (const Charset charset : {Charset::kUtf8, Charset::kAscii}) {
    Terminal terminal;
    terminal.charset = charset;
    const ReportOptions options = {"", true, 10, Hostile()};
    ExpectHarmless(ReportText(view, options, terminal), charset, "report");
    ExpectHarmless(InfoText(view, terminal), charset, "info");
    ExpectHarmless(AdviseText(view, {"", true, Hostile()}, terminal), charset, "advise");
    for (const auto grid : {SiteGrid, ObjectGrid, CodeGrid, ThreadGrid, NodeGrid}) {
      ExpectHarmless(GridText(grid(view, terminal), 100, terminal), charset, "grid");
      ExpectHarmless(GridMarkdown(grid(view, terminal)), charset, "markdown");
    }
    const View other = ViewOf(StencilBytes(1));
    const DiffSide sides[] = {{view, Hostile()}, {other, "b"}};
    const Diff diff = Compare(sides[0], sides[1]);
    ExpectHarmless(DiffText(diff, sides[0], sides[1], true, terminal), charset, "diff");
  }
}

// Sets every 64-bit counter of a record to its largest value.
void Maximise(google::protobuf::Message& message) {
  using google::protobuf::FieldDescriptor;
  const auto& reflection = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_UINT64) continue;
    if (!field->is_repeated()) {
      reflection.SetUInt64(&message, field, ~uint64_t{0});
      continue;
    }
    for (int k = 0; k < reflection.FieldSize(message, field); ++k) {
      reflection.SetRepeatedUInt64(&message, field, k, ~uint64_t{0});
    }
  }
}

TEST(Hostile, LargestCountersGiveSomeText) {
  View plain = ViewOf(StencilBytes(2));
  profile::Profile profile = std::move(plain.profile);
  for (auto& [id, site] : profile.sites) Maximise(site.total);
  for (profile::Thread& thread : profile.threads) Maximise(thread.total);
  for (v1::PlacementCall& call : profile.placement_calls) Maximise(call);
  Maximise(profile.accounting);
  Maximise(profile.own_cost);
  Maximise(*profile.header.mutable_engines(1));
  const View view = BuildView(std::move(profile), {.lines = false});
  const View other = ViewOf(StencilBytes(2));
  const Terminal terminal;
  EXPECT_FALSE(ReportText(view, {"", true, 10, "p"}, terminal).empty());
  EXPECT_FALSE(InfoText(view, terminal).empty());
  EXPECT_FALSE(AdviseText(view, {"", true, "p"}, terminal).empty());
  EXPECT_FALSE(JsonText(AdviseJson(view, {"", true, "p"})).empty());
  EXPECT_LE(RulesOf(view, "p", 64).rules.size(), 64u);
  const DiffSide sides[] = {{view, "a"}, {other, "b"}};
  const Diff diff = Compare(sides[0], sides[1]);
  EXPECT_FALSE(DiffText(diff, sides[0], sides[1], true, terminal).empty());
  EXPECT_FALSE(JsonText(DiffJson(diff, sides[0], sides[1])).empty());
  for (const auto grid : {SiteGrid, ObjectGrid, CodeGrid, ThreadGrid, NodeGrid}) {
    EXPECT_FALSE(GridText(grid(view, terminal), 100, terminal).empty());
  }
}

// Found by report_fuzz: such a rate was converted to an integer that can't hold it.
TEST(Hostile, RateThatIsNoRateIsLeftOut) {
  for (const double rate : {5e180, -1.0, std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity()}) {
    ProfileBuilder builder;
    FillHeader(builder, 1);
    for (v1::Engine& engine : *builder.header().mutable_engines()) engine.set_rate_hz(rate);
    const View view = ViewOf(builder.Bytes());
    EXPECT_EQ(view.profile.header.engines(1).rate_hz(), 0) << rate;
    EXPECT_NE(InfoText(view, Terminal()), "");
  }
}

// A matrix of each with each would take gigabytes.
TEST(Hostile, MatrixOfAHundredThousandNodesIsCut) {
  PlacedSite site;
  for (int node = 0; node < 100'000; ++node) site.Use(0, node, node % 1000, 1);
  const std::string text = ReportText(site.Build(), {"S1", false, 10, "p"}, Terminal());
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 400);
}

TEST(Hostile, JsonIsValidAndEscapesControls) {
  const std::string text = JsonText(SummaryJson(HostileView()));
  EXPECT_FALSE(Json::parse(text).is_discarded());
  for (const char c : text) ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << int{c};
}

TEST(Hostile, NamesInCsvAreNoFormulas) {
  View view = ViewOf(StencilBytes(2));
  view.threads.at(0).name = "=cmd|' /C calc'!A0";
  view.threads.at(1).name = "\x1b[31m-1\nx";
  const std::string csv = GridCsv(ThreadGrid(view, Terminal()));
  EXPECT_NE(csv.find("'=cmd"), std::string::npos) << csv;
  EXPECT_EQ(csv.find("\n="), std::string::npos) << csv;
  EXPECT_EQ(csv.find(",="), std::string::npos) << csv;
  EXPECT_NE(csv.find("?[31m-1?x"), std::string::npos) << csv;
}

TEST(Hostile, CsvQuotesAndMarkdownEscapes) {
  const View view = HostileView();
  const std::string csv = GridCsv(ThreadGrid(view, Terminal()));
  EXPECT_NE(csv.find("|,\"\"z"), std::string::npos);
  EXPECT_NE(GridMarkdown(ThreadGrid(view, Terminal())).find("\\|"), std::string::npos);
}

}  // namespace
}  // namespace memagent::viewer
