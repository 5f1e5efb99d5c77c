// The text of MEMAGENT_OPTIONS: a bad pair is reported and changes nothing, and what was set is in
// the range that the table gives.
#include <cstdlib>

#include "agent/base/options.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const char* text :
       {"output=/tmp/a\\,b.%p,engine=software,rate=4000", "period=1,fault_period=0,checkpoint=5",
        "follow=fork,ring_pages=32,drain_interval=10,raw_samples=0,verbose=1", ",,=,a=,=b,rate",
        "rate=99999999999999999999,verbose=2,engine=all"}) {
    memagent::testing::AddSeed(seeds, text);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  memagent::base::Options options;
  struct Seen {
    std::string_view text;
  } seen = {text};
  const auto warn = [](void* context, std::string_view pair, std::string_view reason) {
    const std::string_view whole = static_cast<Seen*>(context)->text;
    if (pair.data() < whole.data() || pair.data() + pair.size() > whole.data() + whole.size() ||
        reason.empty()) {
      abort();
    }
  };
  memagent::base::ParseOptions(text, options, warn, &seen);
  for (const auto* value : {&options.output, &options.engine, &options.follow}) {
    if (value->view().size() >= sizeof(value->text)) abort();
  }
  if (options.rate >= 1'000'000'000'000'000'000) abort();  // at most 18 digits
  return 0;
}
