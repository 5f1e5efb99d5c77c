#include "inject/placement_request.h"

#include <algorithm>

#include "agent/base/placement_rule.h"

namespace memagent::inject {
namespace {

constexpr std::string_view kFunction = "fn:";
constexpr std::string_view kNamingNodes[] = {"=bind", "=interleave", "=block"};

std::string Joined(const std::vector<uint32_t>& nodes, std::string_view between) {
  std::string text;
  for (const uint32_t node : nodes) {
    if (!text.empty()) text += between;
    text += std::to_string(node);
  }
  return text;
}

// "S" and digits.
bool IsSiteName(std::string_view text) {
  return text.size() > 1 && text.front() == 'S' &&
         text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

std::string ReadSite(std::string_view site, PlacementRequest& request) {
  const bool is_function = site.starts_with(kFunction);
  if (is_function) site.remove_prefix(kFunction.size());
  // A site's name has no "@", a file's may have one; in a function's name there is none.
  const size_t at = is_function ? site.rfind('@') : site.find('@');
  const std::string_view name = site.substr(0, at);
  if (at != std::string_view::npos) request.file = site.substr(at + 1);
  if (is_function) {
    request.function = name;
    return name.empty() ? "fn: names no function" : "";
  }
  if (!IsSiteName(name) || request.file.empty()) {
    return "a site is S3@PROFILE, as memagent report PROFILE calls it, or fn:FUNCTION";
  }
  request.site = name;
  return "";
}

std::string CheckNodes(const base::PlacementRule& rule, const std::vector<uint32_t>& nodes) {
  for (const uint16_t node : rule.node_list()) {
    if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) continue;
    return "this machine has no memory on node " + std::to_string(node) + ", only on " +
           Joined(nodes, ", ");
  }
  return "";
}

std::string ReadPlacement(std::string_view text, const std::vector<uint32_t>& nodes,
                          PlacementRequest& request) {
  request.placement = text;
  const size_t equals = text.find('=');
  if (equals != std::string_view::npos) request.placement[equals] = ':';
  if (text == "interleave" || text == "block") request.placement += ":" + Joined(nodes, "+");
  base::PlacementRule rule;
  const std::string_view problem = base::ParsePlacement(request.placement, rule);
  return problem.empty() ? CheckNodes(rule, nodes) : std::string(problem);
}

// Where the "=" between site and placement is. Nodes may stand behind a "=", too ("bind=1"): no
// placement begins with a digit, so what stands before the last "=" belongs to it then.
size_t PlaceOfEquals(std::string_view text) {
  const size_t last = text.rfind('=');
  if (last == std::string_view::npos || last + 1 == text.size()) return last;
  if (text[last + 1] < '0' || text[last + 1] > '9') return last;
  const std::string_view before = text.substr(0, last);
  for (const std::string_view word : kNamingNodes) {
    if (before.ends_with(word)) return last - word.size();
  }
  return last;
}

bool HasControlCharacter(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

std::string Read(std::string_view text, const std::vector<uint32_t>& nodes,
                 PlacementRequest& request) {
  if (HasControlCharacter(text)) return "it holds a control character";
  const size_t equals = PlaceOfEquals(text);
  if (equals == std::string_view::npos) return "expected SITE=PLACEMENT";
  request.text = text;
  const std::string problem = ReadSite(text.substr(0, equals), request);
  return problem.empty() ? ReadPlacement(text.substr(equals + 1), nodes, request) : problem;
}

}  // namespace

bool ParsePlacementRequest(std::string_view text, const std::vector<uint32_t>& memory_nodes,
                           PlacementRequest& request, std::string& problem) {
  const std::string why = Read(text, memory_nodes, request);
  if (!why.empty()) problem = "--place '" + std::string(text) + "': " + why + ".";
  return why.empty();
}

std::vector<std::string> PlacementTexts(std::string_view file) {
  std::vector<std::string> texts;
  while (!file.empty()) {
    std::string_view line = base::TakeField(file, '\n');
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    while (line.starts_with(' ')) line.remove_prefix(1);
    if (!line.empty() && line.front() != '#') texts.emplace_back(line);
  }
  return texts;
}

}  // namespace memagent::inject
