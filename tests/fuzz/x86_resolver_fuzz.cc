// Arbitrary bytes as the code around an arbitrary IP with arbitrary registers. Input: two bytes of
// IP offset, one of options, 160 of registers, the rest is the code of one function.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "agent/decode/access_resolver.h"
#include "tests/unit/decode/fake_code.h"

namespace {

using namespace memagent;          // NOLINT: one file, one function
using namespace memagent::decode;  // NOLINT

constexpr size_t kHeadBytes = 3 + sizeof(Registers);

RawSample SampleFrom(const uint8_t* data) {
  RawSample sample;
  sample.ip = FakeCode::kBase + data[0] + 256u * data[1];
  sample.has_registers = (data[2] & 1) != 0;
  std::memcpy(sample.registers.data(), data + 3, sizeof(Registers));
  return sample;
}

void Check(const AccessResolver::Result& result) {
  const bool exact = result.access.evidence == Evidence::kExact;
  if (exact && result.why != Unresolved::kNone) std::abort();
  if (result.access.evidence == Evidence::kNone && result.access.address != 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size <= kHeadBytes || !os::LoadZydis().loaded) return 0;
  const auto* code = reinterpret_cast<const std::byte*>(data + kHeadBytes);
  FakeCode reader(std::vector<std::byte>(code, code + (size - kHeadBytes)));
  AccessResolver resolver(reader);
  const RawSample sample = SampleFrom(data);
  const uint64_t fs_base = (data[2] & 2) != 0 ? 0x7f0000000000 : 0;
  Check(resolver.Resolve(sample, fs_base));
  Check(resolver.Resolve(sample, fs_base));  // from the cache
  return 0;
}
