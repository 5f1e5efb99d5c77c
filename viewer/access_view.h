// What hardware told of a site's accesses: where they were served, how long they took, and how far
// the two witnesses of locality agree: the node of the page, and the hardware's data source.
//
// Latency is that of the sampled accesses in core cycles. It is not time that the program stood
// still: accesses overlap, and only those that had a latency are in it.
#ifndef MEMAGENT_VIEWER_ACCESS_VIEW_H_
#define MEMAGENT_VIEWER_ACCESS_VIEW_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/base/data_source.h"
#include "agent/profile/profile.pb.h"

namespace memagent::viewer {

struct LatencySum {
  uint64_t samples = 0;
  uint64_t cycles = 0;

  void Add(uint64_t more_samples, uint64_t more_cycles);
  void Add(const LatencySum& other) { Add(other.samples, other.cycles); }
  // nullopt when no sample had a latency.
  std::optional<double> Mean() const;
};

// What a witness says of an access.
enum class Testimony : uint8_t { kUnknown, kNear, kFar };

struct AccessKindView {
  DataSource source;
  Testimony page = Testimony::kUnknown;      // where the page lies
  Testimony hardware = Testimony::kUnknown;  // where the hardware says it was served
  uint64_t page_bytes = 0;                   // of the page's translation; 0: not told
  uint64_t samples = 0;
  LatencySum latency;
  LatencySum instruction;  // the whole of it
  LatencySum tlb_refill;

  // Of a kind that says the same; the first one makes it.
  void Add(const AccessKindView& other);
};

// Of the sampled latencies, from the histogram: each taken as its bucket's middle.
struct LatencyMoments {
  double count = 0;
  double sum = 0;
  double squares = 0;

  // What the samples are worth as a count of equally heavy ones (Kish).
  double EffectiveSamples() const { return squares > 0 ? sum * sum / squares : 0; }
  // Of one latency.
  double Variance() const;
};

struct AccessView {
  std::map<uint64_t, AccessKindView> kinds;              // by a number made of what they say
  std::vector<std::pair<uint32_t, uint64_t>> histogram;  // by the bucket's lowest latency
  uint64_t samples = 0;                                  // that hardware told something of
  LatencySum latency;
  LatencySum near;  // page on the node of the CPU
  LatencySum far;   // page on another node
  LatencySum instruction;
  LatencySum tlb_refill;
  // Samples by page's and hardware's testimony: [page][hardware].
  std::array<std::array<uint64_t, 3>, 3> witnesses = {};

  void Add(const AccessView& other);

  // Samples of which both witnesses said something, and of these, those where they agree.
  uint64_t BothKnow() const;
  uint64_t Agree() const;
  // Samples that were served by memory: DRAM, PMEM or CXL; of those, the ones from a far page.
  uint64_t FromMemory() const;
  uint64_t FromFarMemory() const;
  uint64_t WithOp(MemoryOp op) const;
  // Lines that another core had modified.
  uint64_t Modified() const;
  // Accesses whose address no TLB knew; of these and all others, those of which hardware told.
  uint64_t TlbMisses() const;
  uint64_t TlbKnown() const;
  // The latency that `share` (0..1) of the samples with one stay under; nullopt without any.
  std::optional<double> Percentile(double share) const;
  LatencyMoments Moments() const;
};

AccessView MakeAccessView(const memagent::v1::SiteTotal& total);

// Words for people and for JSON: "load", "dram", "other node". "unknown" for values not known.
std::string_view OpWord(MemoryOp op);
std::string_view LevelWord(MemoryLevel level);
std::string_view LocalityWord(Locality locality);
std::string_view SnoopWord(Snoop snoop);
std::string_view TlbWord(TlbLevel tlb);
std::string_view TestimonyWord(Testimony testimony);

}  // namespace memagent::viewer

#endif  // MEMAGENT_VIEWER_ACCESS_VIEW_H_
