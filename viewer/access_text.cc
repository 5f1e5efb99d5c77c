#include "viewer/access_text.h"

#include <algorithm>
#include <map>

#include "viewer/concat.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

std::string Cycles(const std::optional<double>& cycles) {
  return cycles ? GroupedCount(static_cast<uint64_t>(*cycles + 0.5)) : "-";
}

// "L3", "DRAM of other node": the level, and where it is when that is elsewhere.
std::string PlaceText(const DataSource& source) {
  const std::string level(LevelWord(source.level));
  return source.remote() ? Concat(level, " of ", LocalityWord(source.locality)) : level;
}

std::string Share2(uint64_t part, uint64_t whole) { return Percent(Share(part, whole)); }

std::vector<std::string> OpItems(const AccessView& access) {
  std::vector<std::string> items;
  for (const auto& [op, plural] :
       {std::pair(MemoryOp::kLoad, "loads"), std::pair(MemoryOp::kStore, "stores"),
        std::pair(MemoryOp::kPrefetch, "prefetches")}) {
    const uint64_t samples = access.WithOp(op);
    if (samples > 0) items.push_back(Concat(Share2(samples, access.samples), " ", plural));
  }
  if (const uint64_t modified = access.Modified(); modified > 0) {
    items.push_back(
        Concat(Share2(modified, access.samples), " of lines that another core had modified"));
  }
  return items;
}

std::vector<std::string> PlaceItems(const AccessView& access) {
  std::map<std::string, AccessKindView> places;
  for (const auto& [key, kind] : access.kinds) {
    AccessKindView& place = places[PlaceText(kind.source)];
    place.samples += kind.samples;
    place.latency.Add(kind.latency.samples, kind.latency.cycles);
  }
  std::vector<std::pair<std::string, AccessKindView>> ranked(places.begin(), places.end());
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second.samples > b.second.samples;
  });
  std::vector<std::string> items;
  for (const auto& [name, place] : ranked) {
    std::string item = Concat(name, " ", Share2(place.samples, access.samples));
    if (const auto mean = place.latency.Mean()) Append(item, " (", Cycles(mean), " cycles)");
    items.push_back(std::move(item));
  }
  return items;
}

std::vector<std::string> LatencyItems(const View& view, const AccessView& access,
                                      const Terminal& terminal) {
  if (access.latency.samples == 0) return {};
  std::vector<std::string> items = {Concat("median ", Cycles(access.Percentile(0.5)),
                                           ", 95th percentile ", Cycles(access.Percentile(0.95)),
                                           ", mean ", Cycles(access.latency.Mean()), " cycles")};
  if (view.TellsPages()) {
    items.push_back(Concat("near ", Cycles(access.near.Mean()), " ", terminal.glyphs().becomes,
                           " far ", Cycles(access.far.Mean())));
  }
  if (const auto whole = access.instruction.Mean()) {
    items.push_back(Concat("whole instruction ", Cycles(whole)));
  }
  items.push_back(Concat(Plural(access.latency.samples, "sample"), " with a latency"));
  return items;
}

// How addresses were translated: TLB misses, and the sizes of pages.
std::vector<std::string> TranslationItems(const AccessView& access) {
  std::vector<std::string> items;
  if (const uint64_t known = access.TlbKnown(); known > 0) {
    std::string item = Concat(Share2(access.TlbMisses(), known), " missed the TLBs");
    if (const auto mean = access.tlb_refill.Mean()) Append(item, " (", Cycles(mean), " cycles)");
    items.push_back(std::move(item));
  }
  std::map<uint64_t, uint64_t> sizes;
  uint64_t told = 0;
  for (const auto& [key, kind] : access.kinds) {
    if (kind.page_bytes == 0) continue;
    sizes[kind.page_bytes] += kind.samples;
    told += kind.samples;
  }
  for (const auto& [bytes, samples] : sizes) {
    items.push_back(Concat(Share2(samples, told), " in pages of ", HumanBytes(bytes)));
  }
  return items;
}

}  // namespace

Interval LatencyShareInterval(const View& view, const AccessView& access) {
  const double effective = view.access.Moments().EffectiveSamples() / view.design_effect;
  if (effective < 1) return {};
  const double share = Share(access.latency.cycles, view.access.latency.cycles);
  return WilsonInterval(static_cast<uint64_t>(share * effective + 0.5),
                        static_cast<uint64_t>(effective + 0.5));
}

std::string LatencyShareText(const View& view, const AccessView& access, const Terminal& terminal) {
  if (access.latency.samples == 0) return "-";
  const double share = Share(access.latency.cycles, view.access.latency.cycles);
  const Interval interval = LatencyShareInterval(view, access);
  const double half = std::max(share - interval.low, interval.high - share);
  return Concat(PercentNumber(share), " ", terminal.glyphs().plus_minus, Fixed(half * 100, 1),
                " %");
}

std::string CyclesHeader(const View& view, const Terminal& terminal) {
  return view.TellsPages() ? Concat("NEAR", terminal.glyphs().becomes, "FAR CYCLES") : "CYCLES";
}

std::string CyclesText(const View& view, const AccessView& access, const Terminal& terminal) {
  if (!view.TellsPages()) return Cycles(access.latency.Mean());
  return Concat(Cycles(access.near.Mean()), " ", terminal.glyphs().becomes, " ",
                Cycles(access.far.Mean()));
}

std::string LatencyVerdict(const View& view, const Terminal& terminal) {
  const SiteView& worst = view.sites.front();
  const std::string location = SiteLocation(worst, terminal);
  std::string text = Concat("S1 takes ", LatencyShareText(view, worst.access, terminal),
                            " of the sampled latency: ", SiteName(worst, terminal),
                            location.empty() ? "" : " ", location, ".");
  const uint64_t memory = view.access.FromMemory();
  if (!view.HasRemote() || memory == 0) return text;
  const uint64_t far = view.access.FromFarMemory();
  const Interval interval = WilsonInterval(far, memory, view.design_effect);
  return Concat(text, " Of the accesses that reached memory, ", Share2(far, memory), " (",
                Fixed(interval.low * 100, 1), terminal.glyphs().dash, Fixed(interval.high * 100, 1),
                ") went to another node.");
}

std::string WitnessText(const View& view) {
  const uint64_t both = view.access.BothKnow();
  if (!view.HasRemote() || both == 0) return "";
  const auto& table = view.access.witnesses;
  std::string text = Concat(
      "Two witnesses: where the page lies and where the hardware says the access was served agree "
      "in ",
      Share2(view.access.Agree(), both), " of ", Plural(both, "sample"), " of which both tell");
  if (view.access.Agree() == both) return text + ".";
  return Concat(text, " (near page, served far: ", GroupedCount(table[1][2]),
                "; far page, served near: ", GroupedCount(table[2][1]),
                "); numbers of remote accesses here go by the page.");
}

std::vector<AccessLine> AccessLines(const View& view, const AccessView& access,
                                    const Terminal& terminal) {
  if (access.samples == 0) return {};
  return {{"latency", LatencyItems(view, access, terminal)},
          {"served by", PlaceItems(access)},
          {"accesses", OpItems(access)},
          {"translation", TranslationItems(access)}};
}

}  // namespace memagent::viewer
