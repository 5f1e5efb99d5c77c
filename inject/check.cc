// `memagent check`: what this machine can measure, what not, why, and what to do about it.
#include <cstdio>

#include "inject/capabilities.h"
#include "inject/commands.h"

namespace memagent::inject {
namespace {

constexpr int kUsage = 2;
constexpr char kHelp[] =
    "Usage: memagent check [--json]\n"
    "Say what this machine can measure, what it can't, why, and the remedy.\n\n"
    "Exit status: 0 a hardware engine samples here, 1 only the software engine does,\n"
    "3 nothing can be sampled, 2 wrong usage.\n";

}  // namespace

int CheckCommand(const std::vector<std::string>& args) {
  const bool json = args.size() == 1 && args[0] == "--json";
  if (args.size() == 1 && (args[0] == "--help" || args[0] == "-h")) {
    fputs(kHelp, stdout);
    return 0;
  }
  if (!args.empty() && !json) {
    fprintf(stderr, "memagent: check does not know '%s': see 'memagent check --help'.\n",
            args.front().c_str());
    return kUsage;
  }
  const Capabilities capabilities = ProbeCapabilities();
  fputs((json ? CapabilitiesJson(capabilities) : CapabilitiesText(capabilities)).c_str(), stdout);
  return CapabilitiesExitStatus(capabilities);
}

}  // namespace memagent::inject
