#include "agent/runtime/spe_cpus.h"

#include <algorithm>

#include "agent/decode/spe_packet.h"
#include "agent/os/cpu_list.h"
#include "agent/os/file.h"

namespace memagent::runtime {
namespace {

constexpr std::string_view kSpePrefix = "arm_spe_";

// "0x00000000410fd400"
uint64_t ReadMidr(std::string_view sys_root, uint32_t cpu) {
  const base::String path =
      os::JoinPath(sys_root, "/devices/system/cpu/cpu", cpu, "/regs/identification/midr_el1");
  const auto text = os::ReadFileHead(path.c_str(), 64);
  if (!text) return 0;
  std::string_view digits = os::Trim(*text);
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  return os::ParseUnsigned(digits, 16).value_or(0);
}

bool TellsSnoops(const os::Pmu& pmu) {
  const uint64_t filter = pmu.CapNumber("event_filter").value_or(0);
  return (filter >> static_cast<int>(decode::SpeEvent::kSnooped) & 1) != 0;
}

bool Same(const decode::SpeCpu& one, const decode::SpeCpu& other) {
  return one.encoding == other.encoding && one.tells_snoops == other.tells_snoops;
}

}  // namespace

decode::SpeCpu SpeCpus::Of(uint32_t cpu) const {
  if (cpu < cpus_.size()) return cpus_[cpu];
  const bool alike = !cpus_.empty() && std::all_of(cpus_.begin(), cpus_.end(), [&](const auto& c) {
    return Same(c, cpus_.front());
  });
  return alike ? cpus_.front() : decode::SpeCpu{};
}

SpeCpus ReadSpeCpus(const os::PmuFacts& pmus, std::string_view sys_root) {
  base::Vector<decode::SpeCpu> cpus;
  for (const os::Pmu& pmu : pmus.pmus) {
    if (!pmu.name.starts_with(kSpePrefix)) continue;
    const auto covered = os::ParseCpuList(pmu.cpus);
    if (!covered) continue;
    for (const uint32_t cpu : *covered) {
      if (cpus.size() <= cpu) cpus.resize(cpu + 1);
      cpus[cpu] = {decode::SpeEncodingOf(ReadMidr(sys_root, cpu)), TellsSnoops(pmu)};
    }
  }
  return SpeCpus(std::move(cpus));
}

}  // namespace memagent::runtime
