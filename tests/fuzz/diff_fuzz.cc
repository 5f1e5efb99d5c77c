// Two profiles compared: one as it is, one changed by the fuzzer.
#include <cstdlib>
#include <utility>

#include "tests/support/fuzz_view.h"
#include "viewer/diff.h"
#include "viewer/diff_json.h"
#include "viewer/diff_text.h"
#include "viewer/fail_if.h"

namespace {

using namespace memagent::viewer;  // NOLINT: one file, one subject

void CompareAndPrint(const View& before, const View& after) {
  const DiffSide sides[] = {{before, "a"}, {after, "b"}};
  const Diff diff = Compare(sides[0], sides[1]);
  size_t befores = 0;
  size_t afters = 0;
  for (const DiffRow& row : diff.rows) {
    if (row.before.first() == nullptr && row.after.first() == nullptr) abort();
    befores += row.before.first() != nullptr ? 1 : 0;
    afters += row.after.first() != nullptr ? 1 : 0;
  }
  // Each site is in exactly one row.
  if (befores != before.sites.size() || afters != after.sites.size()) abort();
  DiffText(diff, sides[0], sides[1], true, Terminal());
  JsonText(DiffJson(diff, sides[0], sides[1]));
}

// Both runs on one side: their sites are matched to each other first.
void CompareSeveral(const View& one, const View& other) {
  DiffSide before(one, "a");
  before.Add(other, "b");
  const DiffSide after(other, "c");
  const Diff diff = Compare(before, after);
  DiffText(diff, before, after, false, Terminal());
  for (const char* text : {"*.remote>+5", "total.wall<-1", "*.verdict=worse"}) {
    CheckFailCondition(*ParseFailCondition(text).condition, diff);
  }
}

}  // namespace

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  memagent::testing::AddProfileSeeds(seeds);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const View other = BuildView(
      std::move(
          *memagent::profile::ParseProfile(memagent::tests::StencilBytes(2), "fixed").profile),
      {.lines = false});
  const auto one = memagent::testing::ViewOf(data, size);
  if (!one) return 0;
  CompareAndPrint(*one, other);
  CompareAndPrint(other, *one);
  CompareSeveral(*one, other);
  return 0;
}
