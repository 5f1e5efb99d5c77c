// The environment of a child, entries parted by zero bytes: the agent is taken out of LD_PRELOAD,
// all else stays.
#include <cstdlib>
#include <string>
#include <vector>

#include "agent/capture/child_environment.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  memagent::testing::AddBytes(
      seeds, "A=1\0LD_PRELOAD=/x/libmemagent.so:/y/b.so libmemagent.so\0LD_PRELOAD=");
  memagent::testing::AddSeed(seeds, "LD_PRELOAD=libmemagent.so");
  memagent::testing::AddSeed(seeds, "LD_PRELOAD=a: :b::libmemagent.so:");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace capture = memagent::capture;
  std::string entries(reinterpret_cast<const char*>(data), size);
  std::vector<char*> environment;
  for (size_t at = 0; at < size; at += std::string_view(&entries[at]).size() + 1) {
    environment.push_back(&entries[at]);
  }
  const size_t count = environment.size();
  environment.push_back(nullptr);
  const capture::EnvironmentSize needed = capture::MeasureEnvironment(environment.data());
  if (needed.strings != count) abort();
  std::vector<char*> strings(needed.strings + 1);
  std::vector<char> text(needed.text_bytes);
  capture::BuildEnvironment(environment.data(), strings.data(), text.data());
  for (char** string = strings.data(); *string != nullptr; ++string) {
    const std::string_view entry = *string;
    if (!entry.starts_with("LD_PRELOAD=")) continue;
    std::vector<char> again(entry.size() + 1);
    const size_t length = capture::WithoutAgent(entry.substr(11), again.data());
    if (length != entry.size() - 11) abort();  // nothing was left to take out
  }
  return 0;
}
