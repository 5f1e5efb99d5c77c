// The raw payload of Alpha's ProfileMe: every input is decoded or refused for one counted reason.
#include <cstdlib>
#include <vector>

#include "agent/decode/profileme.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  std::vector<uint8_t> seed(40);
  seed[0] = 1;                       // version
  seed[8] = 0x81, seed[9] = 0x05;    // PMPC: the PALcode of an ITB miss
  seed[20] = 0xc4, seed[21] = 0x01;  // I_STAT: a mispredict trap
  seed[24] = 0x13, seed[27] = 0x0c;  // PCTR_CTL: valid, taken, stalled
  seeds.push_back(seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using memagent::decode::ProfileMeFate;
  using memagent::decode::ProfileMeTrap;
  const std::vector<uint8_t> exact(data, data + size);  // so that a sanitizer sees its end
  memagent::decode::ProfileMeCounts counts;
  const auto sample = memagent::decode::ParseProfileMe(exact, counts);
  if (counts.decoded + counts.unknown_version + counts.too_short != 1) abort();
  if (sample.has_value() != (counts.decoded == 1)) abort();
  if (!sample) return 0;
  if (sample->fate != ProfileMeFate::kTrapped && sample->trap != ProfileMeTrap::kUnknown) abort();
  if (sample->trap > ProfileMeTrap::kUnknown || sample->overrun > 7) abort();
  if (sample->counter0 >> 20 != 0 || sample->in_window >> 20 != 0) abort();
  if (memagent::decode::WasMispredicted(*sample, 0x6bfa8001) &&
      sample->fate != ProfileMeFate::kTrapped) {
    abort();
  }
  return 0;
}
