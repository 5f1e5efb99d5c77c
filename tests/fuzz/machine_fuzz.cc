// /proc/cpuinfo and the small texts of /proc and /sys: words, numbers, the chosen word.
#include <cstdlib>

#include "agent/os/file.h"
#include "agent/os/machine.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  for (const char* text :
       {"processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n"
        "model name\t: AMD EPYC\nstepping\t: 1\nmicrocode\t: 0xa0011d1\n"
        "flags\t\t: fpu constant_tsc nonstop_tsc hypervisor\nclflush size\t: 64\n"
        "cache_alignment\t: 64\n\nprocessor\t: 1\n",
        "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\nCPU revision\t: 1\n",
        "always [madvise] never\n", "-1\n", "18446744073709551615", "[", "]["}) {
    memagent::testing::AddSeed(seeds, text);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace os = memagent::os;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const os::CpuInfo cpu = os::ParseCpuInfo(text);
  if (cpu.model_name.size() > size || cpu.vendor.size() > size + 2) abort();
  if (os::ChosenWord(text).size() > size) abort();
  for (const int base : {10, 16}) {
    if (os::ParseUnsigned(text, base) && text.empty()) abort();
  }
  return 0;
}
