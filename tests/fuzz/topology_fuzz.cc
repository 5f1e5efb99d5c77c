// A NUMA topology from arbitrary files: input is the texts of node/online, of the nodes' cpulist,
// meminfo and distance, parted by zero bytes; all nodes have the same.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "agent/os/file.h"
#include "agent/os/topology.h"
#include "tests/support/fuzz_seeds.h"
#include "tests/support/temp_tree.h"

namespace {

// A sysfs whose files are links to four files in memory: writing real files would take most of the
// fuzzer's time.
class FakeSysfs {
 public:
  FakeSysfs() {
    Link("devices/system/node/online", 0);
    Link("devices/system/cpu/online", 0);
    for (const std::string node : {"node0", "node1", "node2"}) {
      Link("devices/system/node/" + node + "/cpulist", 1);
      Link("devices/system/node/" + node + "/meminfo", 2);
      Link("devices/system/node/" + node + "/distance", 3);
    }
  }
  const std::string& root() const { return tree_.root(); }
  void Fill(size_t file, std::string_view text) const {
    if (ftruncate(files_[file], 0) != 0) abort();
    if (pwrite(files_[file], text.data(), text.size(), 0) != static_cast<long>(text.size()))
      abort();
  }

 private:
  void Link(const std::string& path, size_t file) const {
    const std::string link = tree_.Write(path, "");
    std::filesystem::remove(link);
    std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(files_[file]), link);
  }

  memagent::testing::TempTree tree_;
  const int files_[4] = {memfd_create("online", 0), memfd_create("cpulist", 0),
                         memfd_create("meminfo", 0), memfd_create("distance", 0)};
};

}  // namespace

extern "C" void FuzzSeeds(memagent::testing::SeedList& seeds) {
  memagent::testing::AddBytes(seeds, "0-1\n\0000-3,8\n\0Node 0 MemTotal:    16384 kB\n\00010 21\n");
  memagent::testing::AddBytes(seeds, "0,2\n\0\n\0Node 2 MemTotal: 1 kB\n\00010 x\n");
  memagent::testing::AddBytes(seeds, "\0000-8191\n\0\0");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace os = memagent::os;
  static const FakeSysfs sysfs;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (size_t file = 0; file < 4; ++file) sysfs.Fill(file, os::TakeUntil(rest, '\0'));
  const os::Topology topology = os::ReadTopology(sysfs.root());
  const size_t nodes = topology.nodes.size();
  if (nodes == 0 || nodes > 8192) abort();
  if (!topology.distances.empty() && topology.distances.size() != nodes * nodes) abort();
  for (size_t i = 1; i < nodes; ++i) {
    if (topology.nodes[i - 1].id >= topology.nodes[i].id) abort();
  }
  for (uint32_t cpu = 0; cpu < topology.node_of_cpu.size(); ++cpu) topology.NodeOfCpu(cpu);
  topology.Distance(topology.nodes.front().id, topology.nodes.back().id);
  return 0;
}
