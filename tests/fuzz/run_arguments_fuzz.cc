// The words of `memagent run`, parted by zero bytes: refused with a reason, or options that the
// agent understands and a command.
#include <cstdlib>

#include "agent/base/options.h"
#include "inject/run_arguments.h"
#include "tests/support/fuzz_seeds.h"

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  memagent::testing::AddBytes(seeds, "-o\0a,b\\.memagent\0--rate=10\0--\0ls\0-l");
  memagent::testing::AddBytes(seeds,
                              "--verbose\0--engine\0none\0sleep\0--\0"
                              "1");
  memagent::testing::AddBytes(seeds, "--help");
  memagent::testing::AddBytes(seeds, "--place\0S1@a=local\0--place-from=b\0ls");
  memagent::testing::AddBytes(seeds, "--no-such\0x");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace inject = memagent::inject;
  std::vector<std::string> words;
  for (std::string_view rest(reinterpret_cast<const char*>(data), size); !rest.empty();) {
    const size_t end = rest.find('\0');
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  const inject::RunArguments parsed = inject::ParseRunArguments(words);
  if (!parsed.problem.empty() || parsed.help) return 0;
  if (parsed.command.empty()) abort();
  memagent::base::Options options;
  const auto refuse = [](void*, std::string_view, std::string_view) { abort(); };
  memagent::base::ParseOptions(parsed.options, options, refuse, nullptr);
  inject::MergeOptions(words.empty() ? "" : words[0], parsed.options);
  return 0;
}
