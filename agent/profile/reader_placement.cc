#include "agent/profile/reader_placement.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <system_error>

namespace memagent::profile {
namespace {

std::string Count(uint64_t number, const std::string& noun) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text + " " + noun + (number == 1 ? "" : "s");
}

std::string Bytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit < 3; ++unit) value /= 1024;
  char text[48];
  snprintf(text, sizeof(text), "%.1f %s", value, kUnits[unit]);
  return text;
}

std::string RefusedText(const v1::AppliedPlacement& placement) {
  const int error = placement.refused_errno();
  std::string text = "the kernel refused " + Count(placement.refused_calls(), "call") + ": " +
                     std::generic_category().message(error);
  if (error == EPERM) text += " (a sandbox, such as a container's, forbids mbind)";
  if (error == ENOSYS) text += " (a kernel without NUMA)";
  if (error == EINVAL)
    text += " (no such node is allowed here; several nodes to bind to need Linux 5.15)";
  return text;
}

}  // namespace

bool WasApplied(const v1::AppliedPlacement& placement) {
  return placement.blocks() > 0 && placement.refused_calls() == 0 &&
         placement.over_limit_blocks() == 0 && placement.uncut_mappings() == 0;
}

std::string PlacementText(const v1::AppliedPlacement& placement) {
  std::string text = placement.rule();
  if (placement.sites_matched() == 0) {
    return text + " matched no allocation of this run: " + placement.sites();
  }
  text += " placed " + Count(placement.blocks(), "block") + ", " + Bytes(placement.bytes()) +
          ", of " + placement.sites();
  if (placement.sites_matched() > 1) {
    text += " (" + Count(placement.sites_matched(), "site") + ")";
  }
  if (placement.moved_blocks() > 0) {
    text += "; " + Count(placement.moved_blocks(), "block") +
            " may have had pages already, which were moved";
  }
  if (placement.too_small_blocks() > 0) {
    text += "; " + Count(placement.too_small_blocks(), "block") + " below 16 KiB stayed";
  }
  if (placement.over_limit_blocks() > 0) {
    text += "; " + Count(placement.over_limit_blocks(), "block") +
            " stayed, as too many were placed at the same time, or there were too many mappings";
  }
  if (placement.uncut_mappings() > 0) {
    text += "; " + Count(placement.uncut_mappings(), "mapping") +
            " of mmap stayed: cut into parts, the program could not mremap it";
  }
  if (placement.overruled_calls() > 0) {
    text += "; " + Count(placement.overruled_calls(), "call") +
            " of the program that places this memory by itself made way for the rule";
  }
  if (placement.refused_calls() > 0) text += "; " + RefusedText(placement);
  return text;
}

}  // namespace memagent::profile
