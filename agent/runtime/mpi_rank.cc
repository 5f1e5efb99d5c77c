#include "agent/runtime/mpi_rank.h"

#include <string_view>

#include "agent/os/file.h"

namespace memagent::runtime {
namespace {

// The value in "NAME=value\0NAME=value\0...", "" without one.
std::string_view ValueOf(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    std::string_view value = os::TakeUntil(environment, '\0');
    if (os::TakeUntil(value, '=') == name) return value;
  }
  return {};
}

}  // namespace

base::String MpiRank() {
  const auto environment = os::ReadWholeFile("/proc/thread-self/environ", size_t{2} << 20);
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    const std::string_view rank = environment ? ValueOf(*environment, name) : std::string_view();
    if (!rank.empty()) return base::String(rank);
  }
  return base::String("0");
}

}  // namespace memagent::runtime
