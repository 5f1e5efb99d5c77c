#include "viewer/advise_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/viewer/placed_site.h"

namespace memagent::viewer {
namespace {

using testing::HasSubstr;
using testing::Not;

AdviseOptions OptionsFor(const std::string& profile) { return {"", false, profile}; }

PlacedSite OwnerElsewhere(int nodes) {
  PlacedSite site(nodes);
  site.Use(1, nodes - 1, 0, 970).Use(0, 0, 0, 30).Touch(0, 0, 4000);
  return site;
}

TEST(AdviseText, OneNodeHasNoRemoteShare) {
  const std::string text = AdviseText(OwnerElsewhere(1).Build(), OptionsFor("p"), Terminal());
  EXPECT_THAT(text, HasSubstr("100.0 % of the memory samples\n"));
  EXPECT_THAT(text, Not(HasSubstr("remote")));
}

TEST(AdviseText, StandardInputCanNotBeNamedInACommand) {
  const View view = OwnerElsewhere(2).Build();
  EXPECT_THAT(AdviseText(view, OptionsFor("p"), Terminal()), HasSubstr("Try it: "));
  EXPECT_THAT(AdviseText(view, OptionsFor("p"), Terminal()), HasSubstr("--place-from p"));
  const std::string text = AdviseText(view, OptionsFor("-"), Terminal());
  EXPECT_THAT(text, HasSubstr("Bind it to node 1"));
  EXPECT_THAT(text, Not(HasSubstr("memagent run")));
}

// With latencies sites are ranked by these: a few slow samples may come before thousands.
TEST(AdviseText, SiteWithFewSamplesDoesNotHideThoseBehindIt) {
  ProfileBuilder b;
  FillHeader(b, 2);
  const uint32_t app = b.Module("/opt/demo/stencil");
  const uint32_t thread = b.Thread(4711, "main", true);
  const auto add = [&](const char* name, uint64_t samples, uint64_t cycles) {
    const uint32_t frame = b.Frame(app, 0x1000, name);
    v1::SiteTotal& total = b.SiteTotal(b.Site(v1::HEAP, b.Stack({frame})));
    SetMemory(total, 1, 0, 1 << 20, 0, 1 << 20);
    AddUse(total, thread, 1, 0, samples);
    AddKind(total, v1::AccessKind::LOAD, v1::AccessKind::DRAM, v1::AccessKind::OTHER_NODE,
            v1::AccessKind::PAGE_OTHER_NODE, samples, cycles);
    SetEvidence(total, samples, 0, 0);
  };
  add("largest", 2000, 300);
  add("few_slow", 25, 20'000);
  add("many", 1000, 300);
  v1::Accounting& all = *b.totals().mutable_accounting();
  all.set_samples_seen(3025);
  all.set_attributed(3025);
  all.set_evidence_exact(3025);
  const View view = ViewOf(b.Bytes());
  ASSERT_EQ(view.sites.at(1).where.short_function, "few_slow");
  const std::string text = AdviseText(view, OptionsFor("p"), Terminal());
  EXPECT_THAT(text, HasSubstr("many"));
  EXPECT_THAT(text, Not(HasSubstr("few_slow")));
  EXPECT_THAT(text, HasSubstr("1 more site: --all"));
  EXPECT_THAT(AdviseText(view, {"", true, "p"}, Terminal()), HasSubstr("few_slow"));
  EXPECT_EQ(AdviseJson(view, OptionsFor("p"))["sites"].size(), 3u);
}

}  // namespace
}  // namespace memagent::viewer
