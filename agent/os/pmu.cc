#include "agent/os/pmu.h"

#include <algorithm>
#include <array>
#include <span>

#include "agent/os/file.h"
#include "agent/os/folder.h"

namespace memagent::os {
namespace {

constexpr std::string_view kDevices = "/bus/event_source/devices";
constexpr size_t kFileBytes = 4096;  // one sysfs attribute is at most a page

using Names = std::span<const std::string_view>;

// What is read of one kind of PMU.
struct Kind {
  Names fields;
  Names events;
  Names caps;
};

constexpr std::string_view kIbsFields[] = {"cnt_ctl", "l3missonly", "ldlat", "swfilt"};
constexpr std::string_view kIbsCaps[] = {"zen4_ibs_extensions", "ldlat", "dtlb_pgsize",
                                         "rmtsocket"};
// The last two are ProfileMe's (Alpha).
constexpr std::string_view kCpuFields[] = {"event", "umask", "ldlat", "profileme", "randomize"};
constexpr std::string_view kCpuEvents[] = {"mem-loads", "mem-stores", "mem-loads-aux"};
constexpr std::string_view kCpuCaps[] = {"max_precise", "pmu_name"};
constexpr std::string_view kSpeFields[] = {"ts_enable",   "pa_enable",    "jitter",
                                           "load_filter", "store_filter", "event_filter",
                                           "min_latency"};
constexpr std::string_view kSpeCaps[] = {"arch_inst", "ernd", "count_size", "min_interval",
                                         "event_filter"};

std::optional<Kind> KindOf(std::string_view name) {
  if (name == "ibs_op") return Kind{kIbsFields, {}, kIbsCaps};
  if (name == "cpu" || name.starts_with("cpu_")) return Kind{kCpuFields, kCpuEvents, kCpuCaps};
  if (name.starts_with("arm_spe_")) return Kind{kSpeFields, {}, kSpeCaps};
  return std::nullopt;
}

std::optional<base::String> ReadText(std::string_view folder, std::string_view path,
                                     std::string_view name = {}) {
  const auto text = ReadWholeFile(JoinPath(JoinPath(folder, path), name).c_str(), kFileBytes);
  if (!text) return std::nullopt;
  return base::String(Trim(*text));
}

std::optional<uint64_t> ParseNumber(std::string_view text) {
  return text.starts_with("0x") ? ParseUnsigned(text.substr(2), 16) : ParseUnsigned(text);
}

void ReadFields(std::string_view folder, Names names, Pmu& pmu) {
  for (const std::string_view name : names) {
    const auto text = ReadText(folder, "/format/", name);
    if (!text) continue;
    if (auto bits = ParsePmuBits(*text)) pmu.fields.push_back({base::String(name), *bits});
  }
}

void ReadEvents(std::string_view folder, Names names, Pmu& pmu) {
  for (const std::string_view name : names) {
    const auto text = ReadText(folder, "/events/", name);
    if (!text) continue;
    if (auto terms = ParsePmuTerms(*text)) pmu.events.push_back({base::String(name), *terms});
  }
}

void ReadCaps(std::string_view folder, Names names, Pmu& pmu) {
  for (const std::string_view name : names) {
    const auto text = ReadText(folder, "/caps/", name);
    if (text) pmu.caps.push_back({base::String(name), *text});
  }
}

// Hybrid x86 PMUs have a file "cpus", others that cover a part of the machine "cpumask".
base::String ReadCpus(std::string_view folder) {
  if (const auto cpus = ReadText(folder, "/cpus")) return *cpus;
  return ReadText(folder, "/cpumask").value_or(base::String());
}

std::optional<Pmu> ReadPmu(std::string_view devices, std::string_view name, const Kind& kind) {
  base::String folder = JoinPath(devices, "/");
  folder += name;
  const auto type = ReadNumberFile(JoinPath(folder, "/type").c_str());
  if (!type || *type < 0 || *type > UINT32_MAX) return std::nullopt;
  Pmu pmu;
  pmu.name = name;
  pmu.type = static_cast<uint32_t>(*type);
  pmu.cpus = ReadCpus(folder);
  ReadFields(folder, kind.fields, pmu);
  ReadEvents(folder, kind.events, pmu);
  ReadCaps(folder, kind.caps, pmu);
  return pmu;
}

template <typename T>
const T* FindByName(const base::Vector<T>& list, std::string_view name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const T& item) { return item.name == name; });
  return found == list.end() ? nullptr : &*found;
}

// "0-7" or "19".
std::optional<PmuBits> ParseRange(std::string_view text, uint8_t word) {
  const bool is_range = text.find('-') != std::string_view::npos;
  const auto first = ParseUnsigned(TakeUntil(text, '-'));
  const auto last = is_range ? ParseUnsigned(text) : first;
  if (!first || !last || *first > *last || *last > 63) return std::nullopt;
  return PmuBits{word, static_cast<uint8_t>(*first), static_cast<uint8_t>(*last)};
}

// This build's header may end before config3 (Linux 6.3) and config4 (7.x).
__u64* ConfigWord(uint8_t word, perf_event_attr& attr) {
  switch (word) {
    case 0:
      return &attr.config;
    case 1:
      return &attr.config1;
    case 2:
      return &attr.config2;
    default:
      return nullptr;
  }
}

uint64_t LowBits(unsigned width) { return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

unsigned Width(const PmuBits& bits) { return bits.last - bits.first + 1u; }

}  // namespace

const PmuField* Pmu::FindField(std::string_view field) const { return FindByName(fields, field); }

const PmuEvent* Pmu::FindEvent(std::string_view event) const { return FindByName(events, event); }

std::optional<uint64_t> Pmu::CapNumber(std::string_view cap) const {
  const PmuCap* found = FindByName(caps, cap);
  return found == nullptr ? std::nullopt : ParseNumber(found->text);
}

const Pmu* PmuFacts::Find(std::string_view name) const { return FindByName(pmus, name); }

PmuFacts ReadPmuFacts(std::string_view sys_root) {
  PmuFacts facts;
  const base::String devices = JoinPath(sys_root, kDevices);
  facts.names = ListFolder(devices.c_str());
  facts.sysfs = !facts.names.empty();
  for (const base::String& name : facts.names) {
    const auto kind = KindOf(name);
    if (!kind) continue;
    if (auto pmu = ReadPmu(devices, name, *kind)) facts.pmus.push_back(std::move(*pmu));
  }
  return facts;
}

std::optional<base::Vector<PmuBits>> ParsePmuBits(std::string_view text) {
  constexpr std::string_view kWord = "config";
  std::string_view word_name = TakeUntil(text, ':');
  if (!word_name.starts_with(kWord) || text.empty() || text.ends_with(',')) return std::nullopt;
  word_name.remove_prefix(kWord.size());
  const auto word = word_name.empty() ? 0 : ParseUnsigned(word_name);
  if (!word || *word > 4) return std::nullopt;
  base::Vector<PmuBits> bits;
  while (!text.empty()) {
    const auto range = ParseRange(TakeUntil(text, ','), static_cast<uint8_t>(*word));
    if (!range || bits.size() == 64) return std::nullopt;
    bits.push_back(*range);
  }
  return bits;
}

std::optional<base::Vector<PmuTerm>> ParsePmuTerms(std::string_view text) {
  base::Vector<PmuTerm> terms;
  if (text.empty() || text.ends_with(',')) return std::nullopt;
  while (!text.empty()) {
    std::string_view term = TakeUntil(text, ',');
    const bool has_value = term.find('=') != std::string_view::npos;
    const std::string_view name = TakeUntil(term, '=');
    const auto value = has_value ? ParseNumber(term) : 1;
    if (name.empty() || !value) return std::nullopt;
    terms.push_back({base::String(name), *value});
  }
  return terms;
}

bool SetPmuField(const Pmu& pmu, std::string_view field, uint64_t value, perf_event_attr& attr) {
  const PmuField* found = pmu.FindField(field);
  if (found == nullptr) return false;
  perf_event_attr changed = attr;
  for (const PmuBits& bits : found->bits) {
    __u64* word = ConfigWord(bits.word, changed);
    if (word == nullptr) return false;
    const uint64_t mask = LowBits(Width(bits));
    *word = (*word & ~(mask << bits.first)) | (value & mask) << bits.first;
    value = Width(bits) >= 64 ? 0 : value >> Width(bits);
  }
  if (value != 0) return false;
  attr = changed;
  return true;
}

bool SetPmuEvent(const Pmu& pmu, std::string_view event, perf_event_attr& attr) {
  const PmuEvent* found = pmu.FindEvent(event);
  if (found == nullptr) return false;
  perf_event_attr changed = attr;
  for (const PmuTerm& term : found->terms) {
    if (!SetPmuField(pmu, term.name, term.value, changed)) return false;
  }
  attr = changed;
  return true;
}

}  // namespace memagent::os
