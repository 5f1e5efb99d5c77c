// The file through which agents tell `memagent run` where their profiles are.
#include <cstdlib>

#include "inject/run_summary.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const char* text : {"profile\t12\t/tmp/a b.memagent\nproblem\t13\tThe disk is full.\n",
                           "profile\t12\t/a\nprofile\t12\t/a\nprofile\t12\t/b\n",
                           "profile\t-1\t/a\nprofile\t99999999999\t/a\nproblem\t1\t\nprofile\t"}) {
    memagent::testing::AddSeed(seeds, text);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace inject = memagent::inject;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const inject::RunReport report = inject::ParseRunReport(text);
  for (const auto* lines : {&report.profiles, &report.problems}) {
    for (const inject::RunReport::Line& line : *lines) {
      if (line.pid <= 0 || line.text.empty() || line.text.find('\n') != std::string::npos) abort();
    }
  }
  for (const inject::RunReport::Line& line : report.profiles) {
    const inject::RunReport::Line* found = inject::ProfileOf(report, line.pid);
    if (found == nullptr || found->pid != line.pid) abort();
  }
  return 0;
}
