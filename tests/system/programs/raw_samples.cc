// Prints the single samples that a profile holds, one JSON object for each line. A test holds them
// against what its program knows.
//
//   raw_samples PROFILE
#include <cinttypes>
#include <cstdio>

#include "agent/profile/reader.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: raw_samples PROFILE\n");
    return 2;
  }
  const memagent::profile::LoadResult loaded = memagent::profile::LoadProfile(argv[1]);
  if (!loaded.profile) {
    fprintf(stderr, "%s\n", loaded.problem.c_str());
    return 2;
  }
  for (const memagent::profile::RawSample& sample : loaded.profile->raw_samples) {
    printf("{\"ip\": %" PRIu64 ", \"address\": %" PRIu64
           ", \"thread\": %u, \"cpu\": %u, "
           "\"site\": %u, \"evidence\": %u, \"memory_node\": %d, \"latency\": %u, "
           "\"data_src\": %" PRIu64 "}\n",
           sample.ip, sample.address, sample.thread, sample.cpu, sample.site, sample.evidence,
           sample.memory_node, sample.latency_cycles, sample.data_src);
  }
  return 0;
}
