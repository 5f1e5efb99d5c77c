#include "agent/base/placement_rule.h"

#include <charconv>

namespace memagent::base {
namespace {

constexpr std::string_view kHeaders = "headers=";
constexpr std::string_view kAnyFrame = "*";

template <typename Number>
bool ParseNumber(std::string_view text, Number& number, int base) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number, base);
  return result.ec == std::errc() && result.ptr == end;
}

// Takes "START-END" off the front of a list.
bool TakeRange(std::string_view& ranges, uint64_t& start, uint64_t& end) {
  std::string_view range = TakeField(ranges, ',');
  const std::string_view first = TakeField(range, '-');
  return ParseNumber(first, start, 16) && ParseNumber(range, end, 16) && start < end;
}

bool IsHex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool IsModule(std::string_view text) {
  if (!text.starts_with(kHeaders)) return !text.empty() && text.size() % 2 == 0 && IsHex(text);
  text.remove_prefix(kHeaders.size());
  return text.size() == 16 && IsHex(text);
}

bool IsFrame(std::string_view frame) {
  if (frame == kAnyFrame) return true;
  if (!IsModule(TakeField(frame, ':')) || frame.empty()) return false;
  uint64_t start = 0;
  uint64_t end = 0;
  while (!frame.empty()) {
    if (!TakeRange(frame, start, end)) return false;
  }
  return true;
}

bool AreFrames(std::string_view frames) {
  if (frames.empty()) return false;
  while (!frames.empty()) {
    if (!IsFrame(TakeField(frames, '\t'))) return false;
  }
  return true;
}

bool IsBuildId(std::string_view hex, std::span<const uint8_t> build_id) {
  constexpr char kDigits[] = "0123456789abcdef";
  if (build_id.empty() || hex.size() != build_id.size() * 2) return false;
  for (size_t i = 0; i < build_id.size(); ++i) {
    if (hex[2 * i] != kDigits[build_id[i] >> 4]) return false;
    if (hex[2 * i + 1] != kDigits[build_id[i] & 15]) return false;
  }
  return true;
}

bool IsModuleOf(std::string_view module, const CodePlace& place) {
  if (!module.starts_with(kHeaders)) return IsBuildId(module, place.build_id);
  uint64_t key = 0;
  return place.headers_key != 0 && ParseNumber(module.substr(kHeaders.size()), key, 16) &&
         key == place.headers_key;
}

bool ParseMatch(std::string_view word, PlacementMatch& match) {
  constexpr std::string_view kWords[] = {"stack", "inner", "any"};
  for (size_t i = 0; i < std::size(kWords); ++i) {
    if (word != kWords[i]) continue;
    match = static_cast<PlacementMatch>(i);
    return true;
  }
  return false;
}

std::string_view ParseNodes(std::string_view list, PlacementRule& rule) {
  rule.node_count = 0;
  while (!list.empty()) {
    uint16_t node = 0;
    if (!ParseNumber(TakeField(list, '+'), node, 10) || node >= PlacementRule::kNodeLimit) {
      return "nodes are numbers below 1024 with + between them";
    }
    if (rule.node_count == PlacementRule::kMaxNodes) return "it names more than 64 nodes";
    rule.nodes[rule.node_count++] = node;
  }
  return rule.node_count == 0 ? "it names no node" : "";
}

}  // namespace

std::string_view TakeField(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return field;
}

std::string_view ParsePlacement(std::string_view text, PlacementRule& rule) {
  constexpr std::string_view kWords[] = {"bind", "interleave", "block", "local", "huge", "nohuge"};
  const bool has_nodes = text.find(':') != std::string_view::npos;
  const std::string_view word = TakeField(text, ':');
  for (size_t i = 0; i < std::size(kWords); ++i) {
    if (word != kWords[i]) continue;
    rule.kind = static_cast<PlacementKind>(i);
    if (rule.kind <= PlacementKind::kBlock) return ParseNodes(text, rule);
    rule.node_count = 0;
    return has_nodes ? "local, huge and nohuge take no nodes" : "";
  }
  return "a placement is bind:N, interleave:N+N, block:N+N, local, huge or nohuge";
}

std::string_view ParsePlacementRule(std::string_view line, PlacementRule& rule) {
  rule.text = TakeField(line, '\t');
  rule.meaning = TakeField(line, '\t');
  if (rule.text.empty() || rule.meaning.empty()) return "it has no name or no meaning";
  if (const auto problem = ParsePlacement(TakeField(line, '\t'), rule); !problem.empty()) {
    return problem;
  }
  if (!ParseMatch(TakeField(line, '\t'), rule.match)) return "it matches no stack, inner or any";
  if (!AreFrames(line)) return "a frame is * or MODULE:START-END";
  rule.frames = line;
  return {};
}

uint64_t ProgramHeadersKey(std::span<const uint8_t> program_headers) {
  uint64_t key = 0xcbf29ce484222325;  // FNV-1a
  for (const uint8_t byte : program_headers) key = (key ^ byte) * 0x100000001b3;
  return key;
}

bool FrameMatches(std::string_view frame, const CodePlace& place) {
  if (frame == kAnyFrame) return true;
  if (!IsModuleOf(TakeField(frame, ':'), place)) return false;
  uint64_t start = 0;
  uint64_t end = 0;
  while (!frame.empty() && TakeRange(frame, start, end)) {
    if (place.address >= start && place.address < end) return true;
  }
  return false;
}

}  // namespace memagent::base
