// Everything the viewer prints about a hostile profile: no byte that acts on a terminal.
#include <cstdlib>
#include <string>

#include "tests/support/fuzz_view.h"
#include "viewer/advice_rules.h"
#include "viewer/advise_text.h"
#include "viewer/breakdown.h"
#include "viewer/info_text.h"
#include "viewer/report_json.h"
#include "viewer/report_text.h"

namespace {

using namespace memagent::viewer;  // NOLINT: one file, one subject

// Line feeds and printable characters only; C1 controls are "\xc2\x80" to "\xc2\x9f" in UTF-8.
void RequireHarmless(const std::string& text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n') || byte == 0x7f) abort();
    if (byte == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0) abort();
  }
}

void PrintAll(const View& view, const Terminal& terminal) {
  RequireHarmless(ReportText(view, {.site = "", .all = true, .top = 10, .profile = "p"}, terminal));
  RequireHarmless(InfoText(view, terminal));
  const AdviseOptions options = {.site = "", .all = true, .profile = "p"};
  RequireHarmless(AdviseText(view, options, terminal));
  RequireHarmless(JsonText(AdviseJson(view, options)));
  RulesOf(view, "p", 64);
  for (const auto make : {SiteGrid, ObjectGrid, CodeGrid, ThreadGrid, NodeGrid}) {
    const Grid grid = make(view, terminal);
    RequireHarmless(GridText(grid, 10, terminal));
    GridMarkdown(grid);
    GridCsv(grid);
    JsonText(GridJson(grid));
  }
}

}  // namespace

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  memagent::testing::AddProfileSeeds(seeds);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto loaded = memagent::testing::ViewOf(data, size);
  if (!loaded) return 0;
  const View& view = *loaded;
  Terminal terminal;
  if (size % 2 == 0) terminal.charset = Charset::kAscii;
  PrintAll(view, terminal);
  Json json = SummaryJson(view);
  for (const SiteView& site : view.sites) json["sites"].push_back(SiteJson(view, site));
  RequireHarmless(JsonText(json));
  return 0;
}
