// Symbol names, mangled or not: names stay bounded, and shortening ends.
#include <cstdlib>
#include <string>

#include "tests/support/fuzz_seeds.h"
#include "viewer/demangle.h"
#include "viewer/function_name.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const char* text : {"_ZN4GridIdE5sweepERKS0_", "_ZNSt6vectorIiSaIiEE7reserveEm", "main",
                           "void Grid<double>::fill(int) const", "operator new(unsigned long)",
                           "a::operator<<(b<c>>)", "(anonymous namespace)::f(int (*)(char))",
                           "_ZN1aC1Ev.cold", "foo[abi:cxx11](int) [clone]"}) {
    memagent::testing::AddSeed(seeds, text);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace viewer = memagent::viewer;
  const std::string_view symbol(reinterpret_cast<const char*>(data), size);
  const std::string name = viewer::Demangle(symbol);
  if (viewer::ShortName(name).size() > name.size()) abort();
  if (viewer::ShortName(symbol).size() > size) abort();
  viewer::IsPlumbing(symbol);
  return 0;
}
