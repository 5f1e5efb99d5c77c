// Asks for the node of each page by every rung of the agent's ladder (os/page_nodes.h) and compares
// with move_pages: pages bound to each node, interleaved, huge, of a file, mapped but untouched,
// only ever read (the zero page), and not mapped at all.
//
//   page_ladder    prints a JSON object for each rung: pages right, wrong, unknown, and not present
#include <fcntl.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "agent/os/page_nodes.h"
#include "tests/system/programs/numa_memory.h"

namespace {

using memagent::os::PageAnswer;
using memagent::os::PageNodeRung;
using memagent::os::PageState;
using numa_memory::kPageBytes;

constexpr size_t kHugeBytes = size_t{2} << 20;
constexpr size_t kAreaBytes = 64 * kPageBytes;

struct Area {
  std::string name;
  char* start;
  size_t bytes;
  bool one_node;  // all its pages on one node, so that numa_maps can tell
};

char* Map(size_t bytes, int flags = MAP_PRIVATE | MAP_ANONYMOUS, int fd = -1) {
  void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (start == MAP_FAILED) numa_memory::Die("mmap");
  return static_cast<char*>(start);
}

char* MapPlaced(int mode, uint64_t nodes) {
  char* start = Map(kAreaBytes);
  numa_memory::Place(start, kAreaBytes, mode, nodes);
  memset(start, 1, kAreaBytes);
  return start;
}

// A huge page needs an aligned start; whether the kernel gives one does not matter for the answers.
char* MapHuge(int node) {
  char* raw = Map(2 * kHugeBytes);
  const auto address = reinterpret_cast<size_t>(raw);
  char* start = raw + ((kHugeBytes - address % kHugeBytes) % kHugeBytes);
  const uint64_t nodes = uint64_t{1} << node;
  if (madvise(start, kHugeBytes, MADV_HUGEPAGE) != 0) numa_memory::Die("MADV_HUGEPAGE");
  if (syscall(SYS_mbind, start, kHugeBytes, MPOL_BIND, &nodes, 64, 0) != 0)
    numa_memory::Die("mbind");
  memset(start, 1, kHugeBytes);
  return start;
}

char* MapFile() {
  const int fd = open("/tmp/page_ladder", O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || ftruncate(fd, kAreaBytes) != 0) numa_memory::Die("/tmp/page_ladder");
  char* start = Map(kAreaBytes, MAP_SHARED, fd);
  close(fd);
  memset(start, 1, kAreaBytes / 2);
  return start;
}

// Written up to `written`; what is behind is only read.
char* MapRead(size_t written) {
  char* start = Map(kAreaBytes);
  numa_memory::Place(start, kAreaBytes, MPOL_BIND, 1u << (numa_memory::NodeCount() - 1));
  memset(start, 0, written);
  for (size_t i = written; i < kAreaBytes; i += kPageBytes) {
    if (static_cast<volatile char*>(start)[i] != 0) numa_memory::Die("not zero");
  }
  return start;
}

std::vector<Area> MakeAreas() {
  const int node_count = numa_memory::NodeCount();
  std::vector<Area> areas;
  for (int node = 0; node < node_count; ++node) {
    areas.push_back({"bound to node " + std::to_string(node),
                     MapPlaced(MPOL_BIND, uint64_t{1} << node), kAreaBytes, true});
  }
  const uint64_t all = (uint64_t{1} << node_count) - 1;
  areas.push_back({"interleaved", MapPlaced(MPOL_INTERLEAVE, all), kAreaBytes, false});
  areas.push_back({"huge", MapHuge(node_count - 1), kHugeBytes, true});
  areas.push_back({"file", MapFile(), kAreaBytes, false});
  areas.push_back({"untouched", Map(kAreaBytes), kAreaBytes, true});
  areas.push_back({"only read", MapRead(0), kAreaBytes, true});
  areas.push_back({"half of it only read", MapRead(kAreaBytes / 2), kAreaBytes, true});
  char* gone = Map(kAreaBytes);
  munmap(gone, kAreaBytes);
  areas.push_back({"unmapped", gone, kAreaBytes, true});
  return areas;
}

struct Score {
  int right = 0;
  int wrong = 0;
  int unknown = 0;  // the rung can't tell; allowed where pages of a mapping lie on several nodes
  int not_present = 0;  // and said so
};

void Compare(const Area& area, const std::vector<PageAnswer>& answers, Score& score) {
  const std::vector<int> truth = numa_memory::NodesOf(area.start, area.bytes);
  if (truth.size() != answers.size()) numa_memory::Die("move_pages");
  for (size_t i = 0; i < truth.size(); ++i) {
    const PageAnswer& answer = answers[i];
    const bool present = truth[i] >= 0;
    if (answer.state == PageState::kUnknown) {
      ++score.unknown;
    } else if (present != (answer.state == PageState::kOnNode) ||
               (present && static_cast<int>(answer.node) != truth[i])) {
      ++score.wrong;
      fprintf(stderr, "%s, page %zu: state %d, node %d; truth %d\n", area.name.c_str(), i,
              static_cast<int>(answer.state), static_cast<int>(answer.node), truth[i]);
    } else {
      ++(present ? score.right : score.not_present);
    }
  }
}

Score ScoreOf(PageNodeRung rung, const std::vector<Area>& areas, bool one_node) {
  Score score;
  for (const Area& area : areas) {
    if (area.one_node != one_node) continue;
    std::vector<uint64_t> pages(area.bytes / kPageBytes);
    for (size_t i = 0; i < pages.size(); ++i) {
      pages[i] = reinterpret_cast<uint64_t>(area.start) + i * kPageBytes + i % kPageBytes;
    }
    std::vector<PageAnswer> answers(pages.size());
    memagent::os::PageNodes nodes(rung);
    nodes.Lookup(pages, answers);
    if (nodes.rung() != rung) numa_memory::Die("the rung was left");
    Compare(area, answers, score);
  }
  return score;
}

}  // namespace

int main() {
  const std::vector<Area> areas = MakeAreas();
  for (const PageNodeRung rung :
       {PageNodeRung::kMovePages, PageNodeRung::kGetMempolicy, PageNodeRung::kNumaMaps}) {
    for (const bool one_node : {true, false}) {
      const Score score = ScoreOf(rung, areas, one_node);
      printf(
          "{\"rung\": \"%s\", \"one_node\": %s, \"right\": %d, \"wrong\": %d, \"unknown\": %d, "
          "\"not_present\": %d}\n",
          memagent::os::RungName(rung).data(), one_node ? "true" : "false", score.right,
          score.wrong, score.unknown, score.not_present);
    }
  }
  return 0;
}
