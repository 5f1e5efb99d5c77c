// Two profiles compared: one as it is, one changed by the fuzzer.
#include <cstdlib>
#include <utility>

#include "tests/support/fuzz_view.h"
#include "viewer/diff.h"
#include "viewer/diff_text.h"

namespace {

using namespace memagent::viewer;  // NOLINT: one file, one subject

void CompareAndPrint(const View& before, const View& after) {
  const Diff diff = Compare(before, after);
  size_t befores = 0;
  size_t afters = 0;
  for (const DiffRow& row : diff.rows) {
    if (row.before == nullptr && row.after == nullptr) abort();
    befores += row.before != nullptr ? 1 : 0;
    afters += row.after != nullptr ? 1 : 0;
  }
  // Each site is in at most one row.
  if (befores > before.sites.size() || afters > after.sites.size()) abort();
  const DiffSide sides[] = {{before, "a"}, {after, "b"}};
  DiffText(diff, sides[0], sides[1], true, Terminal());
  JsonText(DiffJson(diff, sides[0], sides[1]));
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
  return 0;
}
