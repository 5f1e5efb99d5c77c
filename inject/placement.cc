#include "inject/placement.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "agent/os/topology.h"
#include "inject/placement_lines.h"
#include "inject/placement_request.h"
#include "inject/program.h"

namespace memagent::inject {
namespace {

constexpr size_t kMostRules = 64;  // capture::kMaxPlacementRules

// Where the kernel does not say how much a node has, it may have some.
std::vector<uint32_t> MemoryNodes() {
  const os::Topology topology = os::ReadTopology();
  std::vector<uint32_t> with_memory;
  std::vector<uint32_t> all;
  for (const os::Node& node : topology.nodes) {
    all.push_back(static_cast<uint32_t>(node.id));
    if (node.memory_total_bytes > 0) with_memory.push_back(all.back());
  }
  return with_memory.empty() ? all : with_memory;
}

std::vector<std::string> TextsOfFile(const std::string& path, std::string& problem) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad()) problem = "--place: the file '" + path + "' can't be read.";
  return PlacementTexts(text);
}

// At most `most`: those that gain most, and a note of the others.
std::vector<std::string> AdvisedTexts(const std::string& path, size_t most,
                                      const ProfileQueries& queries, std::string& problem,
                                      std::string& note) {
  std::vector<std::string> texts;
  if (queries.advised == nullptr) {
    problem = "--place-from: this memagent can give no advice.";
    return texts;
  }
  size_t left_out = 0;
  texts = queries.advised(path, most, left_out, problem);
  if (left_out > 0) {
    note = "--place-from '" + path + "': advice on " + std::to_string(left_out) +
           " more sites, those that gain least, is left out: a run takes " +
           std::to_string(kMostRules) + " rules.";
  } else if (texts.empty() && problem.empty()) {
    problem = "--place-from '" + path +
              "': memagent advises nothing for it that can be applied: see memagent advise.";
  }
  return texts;
}

std::vector<std::string> AllTexts(const RunArguments& arguments, const ProfileQueries& queries,
                                  std::string& problem, std::string& note) {
  std::vector<std::string> texts;
  const auto append = [&texts](const std::vector<std::string>& more) {
    texts.insert(texts.end(), more.begin(), more.end());
  };
  for (const std::string& place : arguments.place) {
    if (place.starts_with('@')) {
      append(TextsOfFile(place.substr(1), problem));
    } else {
      texts.push_back(place);
    }
  }
  if (problem.empty() && texts.size() > kMostRules) problem = "--place: more than 64 rules.";
  if (!problem.empty() || arguments.place_from.empty()) return texts;
  append(AdvisedTexts(arguments.place_from, kMostRules - texts.size(), queries, problem, note));
  return texts;
}

}  // namespace

std::string PlacementFileText(const RunArguments& arguments, const ProfileQueries& queries,
                              std::string& problem, std::string& note) {
  const std::vector<std::string> texts = AllTexts(arguments, queries, problem, note);
  if (!problem.empty() || texts.empty()) return "";
  const std::vector<uint32_t> nodes = MemoryNodes();
  PlacementLines lines(InspectProgram(arguments.command.front()).decided_by, queries);
  std::string file;
  for (const std::string& text : texts) {
    PlacementRequest request;
    if (!ParsePlacementRequest(text, nodes, request, problem)) return "";
    const std::string line = lines.LineFor(request, problem);
    if (line.empty()) return "";
    file += line + "\n";
  }
  return file;
}

}  // namespace memagent::inject
