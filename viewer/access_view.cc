#include "viewer/access_view.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>

namespace memagent::viewer {
namespace {

using memagent::v1::AccessKind;

// A hostile file may hold any numbers.
uint64_t SaturatingSum(uint64_t a, uint64_t b) {
  uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

// Enums of the file have the numbers of ours; a newer agent may know more.
template <typename Enum>
Enum Known(int value, size_t count) {
  return value >= 0 && static_cast<size_t>(value) < count ? static_cast<Enum>(value) : Enum{};
}

DataSource SourceOf(const AccessKind& kind) {
  DataSource source;
  source.op = Known<MemoryOp>(kind.op(), kMemoryOpCount);
  source.level = Known<MemoryLevel>(kind.level(), kMemoryLevelCount);
  source.locality = Known<Locality>(kind.locality(), kLocalityCount);
  source.snoop = Known<Snoop>(kind.snoop(), kSnoopCount);
  source.tlb = Known<TlbLevel>(kind.tlb(), static_cast<size_t>(TlbLevel::kFault) + 1);
  source.locked = kind.locked();
  source.blocked_data = kind.blocked_data();
  source.blocked_address = kind.blocked_address();
  source.region = static_cast<uint8_t>(kind.region());
  return source;
}

Testimony OfPage(AccessKind::Page page) {
  if (page == AccessKind::PAGE_SAME_NODE) return Testimony::kNear;
  return page == AccessKind::PAGE_OTHER_NODE ? Testimony::kFar : Testimony::kUnknown;
}

bool IsMemory(MemoryLevel level) {
  return level == MemoryLevel::kDram || level == MemoryLevel::kPmem || level == MemoryLevel::kCxl;
}

// A cache that has the line says nothing of the page, nor the page of it: only where both speak of
// the memory itself can they contradict each other. A far cache, though, is not where the page is
// near and nobody else has it.
Testimony OfHardware(const DataSource& source) {
  if (source.locality >= Locality::kOtherNode) return Testimony::kFar;
  return IsMemory(source.level) && source.locality == Locality::kSameNode ? Testimony::kNear
                                                                          : Testimony::kUnknown;
}

// Equal for kinds that say the same.
uint64_t KeyOf(const AccessKindView& kind) {
  const DataSource& source = kind.source;
  uint64_t key = 0;
  for (const uint64_t field :
       {static_cast<uint64_t>(source.op), static_cast<uint64_t>(source.level),
        static_cast<uint64_t>(source.locality), static_cast<uint64_t>(source.snoop),
        static_cast<uint64_t>(source.tlb), static_cast<uint64_t>(kind.page)}) {
    key = key << 5 | field;  // none has 32 values
  }
  key = key << 7 | static_cast<uint64_t>(std::bit_width(kind.page_bytes));
  return key << 8 | uint64_t{source.region} << 3 | uint64_t{source.locked} << 2 |
         uint64_t{source.blocked_data} << 1 | uint64_t{source.blocked_address};
}

}  // namespace

void AccessKindView::Add(const AccessKindView& other) {
  source = other.source;
  page = other.page;
  hardware = other.hardware;
  samples = SaturatingSum(samples, other.samples);
  page_bytes = other.page_bytes;
  latency.Add(other.latency);
  instruction.Add(other.instruction);
  tlb_refill.Add(other.tlb_refill);
}

void LatencySum::Add(uint64_t more_samples, uint64_t more_cycles) {
  samples = SaturatingSum(samples, more_samples);
  cycles = SaturatingSum(cycles, more_cycles);
}

std::optional<double> LatencySum::Mean() const {
  if (samples == 0) return std::nullopt;
  return static_cast<double>(cycles) / static_cast<double>(samples);
}

AccessView MakeAccessView(const memagent::v1::SiteTotal& total) {
  AccessView view;
  for (const AccessKind& kind : total.kind()) {
    AccessKindView row;
    row.source = SourceOf(kind);
    row.page = OfPage(kind.page());
    row.hardware = OfHardware(row.source);
    row.samples = kind.samples();
    row.page_bytes = kind.page_bytes();
    row.latency.Add(kind.latency_samples(), kind.latency_cycles());
    row.instruction.Add(kind.instruction_samples(), kind.instruction_cycles());
    row.tlb_refill.Add(kind.tlb_refill_samples(), kind.tlb_refill_cycles());
    view.instruction.Add(row.instruction);
    view.tlb_refill.Add(row.tlb_refill);
    view.kinds[KeyOf(row)].Add(row);
    view.samples = SaturatingSum(view.samples, row.samples);
    view.latency.Add(row.latency.samples, row.latency.cycles);
    if (row.page == Testimony::kNear) view.near.Add(row.latency.samples, row.latency.cycles);
    if (row.page == Testimony::kFar) view.far.Add(row.latency.samples, row.latency.cycles);
    uint64_t& cell =
        view.witnesses[static_cast<size_t>(row.page)][static_cast<size_t>(row.hardware)];
    cell = SaturatingSum(cell, row.samples);
  }
  for (int i = 0; i < total.latency_samples_size(); ++i) {
    view.histogram.emplace_back(total.latency_floor_cycles(i), total.latency_samples(i));
  }
  std::sort(view.histogram.begin(), view.histogram.end());
  return view;
}

void AccessView::Add(const AccessView& other) {
  for (const auto& [key, kind] : other.kinds) kinds[key].Add(kind);
  std::map<uint32_t, uint64_t> buckets(histogram.begin(), histogram.end());
  for (const auto& [floor, count] : other.histogram) {
    buckets[floor] = SaturatingSum(buckets[floor], count);
  }
  histogram.assign(buckets.begin(), buckets.end());
  samples = SaturatingSum(samples, other.samples);
  latency.Add(other.latency.samples, other.latency.cycles);
  near.Add(other.near.samples, other.near.cycles);
  far.Add(other.far.samples, other.far.cycles);
  instruction.Add(other.instruction);
  tlb_refill.Add(other.tlb_refill);
  for (size_t page = 0; page < witnesses.size(); ++page) {
    for (size_t hardware = 0; hardware < witnesses[page].size(); ++hardware) {
      uint64_t& cell = witnesses[page][hardware];
      cell = SaturatingSum(cell, other.witnesses[page][hardware]);
    }
  }
}

uint64_t AccessView::BothKnow() const {
  uint64_t sum = 0;
  for (size_t page = 1; page < 3; ++page) {
    for (size_t hardware = 1; hardware < 3; ++hardware) {
      sum = SaturatingSum(sum, witnesses[page][hardware]);
    }
  }
  return sum;
}

uint64_t AccessView::Agree() const { return SaturatingSum(witnesses[1][1], witnesses[2][2]); }

uint64_t AccessView::FromMemory() const {
  uint64_t sum = 0;
  for (const auto& [key, kind] : kinds) {
    if (IsMemory(kind.source.level)) sum = SaturatingSum(sum, kind.samples);
  }
  return sum;
}

uint64_t AccessView::FromFarMemory() const {
  uint64_t sum = 0;
  for (const auto& [key, kind] : kinds) {
    const Testimony where = kind.page == Testimony::kUnknown ? kind.hardware : kind.page;
    if (IsMemory(kind.source.level) && where == Testimony::kFar) {
      sum = SaturatingSum(sum, kind.samples);
    }
  }
  return sum;
}

uint64_t AccessView::WithOp(MemoryOp op) const {
  uint64_t sum = 0;
  for (const auto& [key, kind] : kinds) {
    if (kind.source.op == op) sum = SaturatingSum(sum, kind.samples);
  }
  return sum;
}

uint64_t AccessView::Modified() const {
  uint64_t sum = 0;
  for (const auto& [key, kind] : kinds) {
    if (kind.source.snoop == Snoop::kModified) sum = SaturatingSum(sum, kind.samples);
  }
  return sum;
}

uint64_t AccessView::TlbMisses() const {
  uint64_t sum = 0;
  for (const auto& [key, kind] : kinds) {
    if (kind.source.tlb >= TlbLevel::kWalk) sum = SaturatingSum(sum, kind.samples);
  }
  return sum;
}

uint64_t AccessView::TlbKnown() const {
  uint64_t sum = 0;
  for (const auto& [key, kind] : kinds) {
    if (kind.source.tlb != TlbLevel::kUnknown) sum = SaturatingSum(sum, kind.samples);
  }
  return sum;
}

// Within a bucket latencies are taken as spread evenly. A bucket is as wide as its third highest
// bit (FORMAT.md).
std::optional<double> AccessView::Percentile(double share) const {
  uint64_t all = 0;
  for (const auto& [floor, count] : histogram) all = SaturatingSum(all, count);
  if (all == 0) return std::nullopt;
  const double wanted = share * static_cast<double>(all);
  double below = 0;
  for (const auto& [floor, count] : histogram) {
    const auto here = static_cast<double>(count);
    if (below + here >= wanted && count != 0) {
      const int spare = std::max(0, static_cast<int>(std::bit_width(floor)) - 3);
      return floor + static_cast<double>(uint64_t{1} << spare) * (wanted - below) / here;
    }
    below += here;
  }
  return histogram.back().first;
}

double LatencyMoments::Variance() const {
  if (count < 1) return 0;
  const double mean = sum / count;
  return std::max(0.0, squares / count - mean * mean);
}

LatencyMoments AccessView::Moments() const {
  LatencyMoments moments;
  for (const auto& [floor, count] : histogram) {
    const double cycles = std::max(1.0, 1.125 * floor);
    const auto weight = static_cast<double>(count);
    moments.count += weight;
    moments.sum += cycles * weight;
    // Buckets are a quarter wide at most (agent/aggregate/latency.h), and evenly filled for all
    // that is known: latencies that are all in one of them are not all the same.
    const double width = std::max(1.0, 0.25 * floor);
    moments.squares += (cycles * cycles + width * width / 12) * weight;
  }
  return moments;
}

std::string_view OpWord(MemoryOp op) {
  constexpr std::string_view kWords[] = {"unknown", "load", "store", "prefetch", "execute"};
  return kWords[static_cast<size_t>(op)];
}

std::string_view LevelWord(MemoryLevel level) {
  constexpr std::string_view kWords[] = {
      "unknown",           "L1",         "fill buffer", "L2",       "L3",  "L4",
      "memory-side cache", "peer cache", "DRAM",        "PMEM",     "CXL", "IO",
      "uncached",          "beyond L3",  "beyond L1",   "beyond L2"};
  static_assert(std::size(kWords) == kMemoryLevelCount);
  return kWords[static_cast<size_t>(level)];
}

std::string_view LocalityWord(Locality locality) {
  constexpr std::string_view kWords[] = {"unknown", "same core", "same node", "other node",
                                         "other socket"};
  return kWords[static_cast<size_t>(locality)];
}

std::string_view SnoopWord(Snoop snoop) {
  constexpr std::string_view kWords[] = {"unknown",  "none",    "miss", "hit",
                                         "modified", "forward", "peer"};
  return kWords[static_cast<size_t>(snoop)];
}

std::string_view TlbWord(TlbLevel tlb) {
  constexpr std::string_view kWords[] = {"unknown", "L1", "L2", "L1 or L2", "walk", "fault"};
  return kWords[static_cast<size_t>(tlb)];
}

std::string_view TestimonyWord(Testimony testimony) {
  constexpr std::string_view kWords[] = {"unknown", "near", "far"};
  return kWords[static_cast<size_t>(testimony)];
}

}  // namespace memagent::viewer
