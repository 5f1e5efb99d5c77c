#include "viewer/strip_text.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "viewer/concat.h"
#include "viewer/site_use.h"
#include "viewer/text.h"

namespace memagent::viewer {
namespace {

constexpr size_t kWideTerminal = 104;  // has room for each 64th
constexpr double kMostOfThem = 0.75;
constexpr std::array<std::string_view, 4> kShades = {"▓", "▒", "░", "█"};
constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";

class Painter {
 public:
  Painter(const Strip& strip, const Terminal& terminal) : terminal_(terminal) {
    std::set<int32_t> nodes;
    for (const auto* side : {&strip.users, &strip.homes}) {
      for (const NodeSamples& samples : *side) {
        for (const auto& [node, count] : samples) nodes.insert(node);
      }
    }
    nodes_.assign(nodes.begin(), nodes.end());
  }

  std::string Paint(const std::array<NodeSamples, kStripParts>& parts) {
    const size_t columns = terminal_.width >= kWideTerminal ? kStripParts : kStripParts / 2;
    const size_t each = kStripParts / columns;
    std::string text;
    for (size_t column = 0; column < columns; ++column) {
      NodeSamples samples;
      for (size_t i = 0; i < each; ++i) {
        for (const auto& [node, count] : parts[column * each + i]) samples[node] += count;
      }
      text += GlyphOf(samples);
    }
    return text;
  }

  std::string Legend() const {
    std::string text;
    for (const int32_t node : nodes_) {
      Append(text, text.empty() ? "" : "  ", Glyph(node), " node ", node);
    }
    if (mixed_) Append(text, "  ", Mixed(), " several nodes");
    if (empty_) Append(text, "  ", Empty(), " no sample");
    return text;
  }

 private:
  std::string_view Mixed() const { return terminal_.Pick("×", "*"); }
  std::string_view Empty() const { return terminal_.Pick("·", "."); }

  std::string_view Glyph(int32_t node) const {
    const auto found = std::find(nodes_.begin(), nodes_.end(), node);
    const auto index = static_cast<size_t>(found - nodes_.begin());
    if (terminal_.charset == Charset::kUtf8 && nodes_.size() <= kShades.size()) {
      return kShades[index];
    }
    return index < kDigits.size() ? kDigits.substr(index, 1) : "?";
  }

  std::string_view GlyphOf(const NodeSamples& samples) {
    const auto [node, count] = MostOf(samples);
    const bool mixed = count > 0 && Share(count, SumOf(samples)) < kMostOfThem;
    empty_ = empty_ || count == 0;
    mixed_ = mixed_ || mixed;
    if (count == 0) return Empty();
    return mixed ? Mixed() : Glyph(node);
  }

  const Terminal& terminal_;
  std::vector<int32_t> nodes_;
  bool mixed_ = false;
  bool empty_ = false;
};

}  // namespace

std::vector<StripLine> StripLines(const SiteView& site, const Terminal& terminal) {
  const Strip strip = StripOf(site);
  if (strip.samples == 0) return {};
  Painter painter(strip, terminal);
  const std::string_view left = terminal.Pick("▕", "|");
  const std::string_view right = terminal.Pick("▏", "|");
  const std::string end = site.allocations == 1 ? HumanBytes(site.bytes_peak) : "end of each block";
  const auto line = [&](const auto& parts) {
    return Concat("0 ", left, painter.Paint(parts), right, " ", end);
  };
  std::vector<StripLine> lines = {{"used by", line(strip.users)}, {"lives on", line(strip.homes)}};
  std::string legend = painter.Legend();
  if (site.strip_samples_left_out > 0) {
    Append(legend, "  (", GroupedCount(site.strip_samples_left_out),
           " samples of too many pairs of nodes are left out)");
  }
  lines.push_back({"", std::move(legend)});
  return lines;
}

}  // namespace memagent::viewer
