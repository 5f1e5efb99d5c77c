// Prints what a profile says of where memory and threads were put, as one JSON object a line:
//
//   {"site": [functions], "sharing": {...}, ...}   for each site
//   {"call": "mbind", ...}                         for each placement call
//   {"thread": 1, "node_changes": 0}               for each thread
//   {"node": 0, ...}                               for each node
//
//   placement_facts PROFILE
#include <cstdint>
#include <cstdio>
#include <string>

#include "agent/profile/reader.h"

namespace {

namespace profile = memagent::profile;
namespace v1 = memagent::v1;
using profile::Profile;

template <typename Column>
std::string List(const Column& column) {
  std::string text = "[";
  for (const auto value : column) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(value);
  }
  return text + "]";
}

std::string Quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

int TidOf(const Profile& p, uint32_t thread) { return p.threads[thread].start.tid(); }

std::string Functions(const Profile& p, const v1::Site& site) {
  std::string text = Quoted(p.Text(site.name()));
  for (const uint32_t frame : p.FramesOf(site.stack())) {
    text += ", " + Quoted(p.FunctionOf(frame));
  }
  return "[" + text + "]";
}

std::string Sharing(const v1::SiteTotal& total) {
  std::string text;
  for (const v1::Sharing& s : total.sharing()) {
    if (!text.empty()) text += ", ";
    text += Quoted(std::to_string(s.unit_bytes())) + ": {\"pairs\": " + std::to_string(s.pairs()) +
            ", \"same_thread\": " + std::to_string(s.same_thread()) +
            ", \"same_node\": " + std::to_string(s.same_node()) +
            ", \"other_node_written\": " + std::to_string(s.other_node_written()) + "}";
  }
  return "{" + text + "}";
}

std::string Policies(const v1::SiteTotal& total) {
  std::string text;
  for (const v1::PolicyCount& policy : total.policy()) {
    if (!text.empty()) text += ", ";
    text += "{\"mode\": " + Quoted(policy.mode()) + ", \"nodes\": " + List(policy.node()) +
            ", \"of_thread\": " + (policy.of_thread() ? "true" : "false") +
            ", \"pages\": " + std::to_string(policy.pages()) + "}";
  }
  return "[" + text + "]";
}

void PrintSite(const Profile& p, const profile::Site& site) {
  const v1::SiteTotal& total = site.total;
  std::string tids = "[";
  for (const uint32_t thread : total.cell_thread()) {
    if (tids.size() > 1) tids += ", ";
    tids += std::to_string(TidOf(p, thread));
  }
  std::string touches;
  for (const v1::FirstTouch& touch : total.first_touch()) {
    if (!touches.empty()) touches += ", ";
    touches += "[" + std::to_string(TidOf(p, touch.thread())) + ", " +
               std::to_string(touch.positions()) + "]";
  }
  printf("{\"site\": %s, \"samples\": %lu, \"cell_tid\": %s], \"cell_cpu_node\": %s, "
         "\"cell_memory_node\": %s, \"cell_samples\": %s, \"cell_stores\": %s, "
         "\"cell_positions\": %s, ",
         Functions(p, site.site).c_str(), static_cast<unsigned long>(total.samples()), tids.c_str(),
         List(total.cell_cpu_node()).c_str(), List(total.cell_memory_node()).c_str(),
         List(total.cell_samples()).c_str(), List(total.cell_stores()).c_str(),
         List(total.cell_positions()).c_str());
  printf("\"strip_position\": %s, \"strip_cpu_node\": %s, \"strip_memory_node\": %s, "
         "\"strip_samples\": %s, \"sharing\": %s, \"policy\": %s, \"pages_moved\": %lu, "
         "\"huge_pages\": %lu, \"huge_pages_asked\": %lu, \"touches\": [%s]}\n",
         List(total.strip_position()).c_str(), List(total.strip_cpu_node()).c_str(),
         List(total.strip_memory_node()).c_str(), List(total.strip_samples()).c_str(),
         Sharing(total).c_str(), Policies(total).c_str(),
         static_cast<unsigned long>(total.pages_moved()),
         static_cast<unsigned long>(total.huge_pages()),
         static_cast<unsigned long>(total.huge_pages_asked()), touches.c_str());
}

void PrintCall(const Profile& p, const v1::PlacementCall& call) {
  printf("{\"call\": \"%s\", \"time\": %lu, \"tid\": %d, \"function\": %s, \"address\": %lu, "
         "\"size_bytes\": %lu, \"site\": %s, \"mode\": \"%s\", \"nodes\": %s, \"target_tid\": %d, "
         "\"calls\": %lu, \"refused\": %lu, \"errno\": %d}\n",
         call.call().c_str(), static_cast<unsigned long>(call.time()), TidOf(p, call.thread()),
         Quoted(p.FunctionOf(call.frame())).c_str(), static_cast<unsigned long>(call.address()),
         static_cast<unsigned long>(call.size_bytes()),
         call.site() == 0 ? "[]" : Functions(p, p.sites.at(call.site()).site).c_str(),
         call.mode().c_str(), List(call.node()).c_str(), call.target_tid(),
         static_cast<unsigned long>(call.calls()), static_cast<unsigned long>(call.refused()),
         call.refused_errno());
}

}  // namespace

int main(int argc, char** argv) {
  const auto result = profile::LoadProfile(argc > 1 ? argv[1] : "-");
  if (!result.profile) {
    fprintf(stderr, "%s\n", result.problem.c_str());
    return 1;
  }
  const Profile& p = *result.profile;
  for (const auto& [id, site] : p.sites) PrintSite(p, site);
  for (const v1::PlacementCall& call : p.placement_calls) PrintCall(p, call);
  printf("{\"left_out\": %lu}\n", static_cast<unsigned long>(p.placement_calls_left_out));
  for (const profile::Thread& thread : p.threads) {
    printf("{\"thread\": %d, \"node_changes\": %lu}\n", thread.start.tid(),
           static_cast<unsigned long>(thread.total.node_changes()));
  }
  for (const v1::NodeCounters& node : p.node_counters) {
    printf("{\"node\": %u, \"least_free_bytes\": %lu, \"hit\": %lu, \"miss\": %lu, \"foreign\": %lu, "
           "\"interleave_hit\": %lu}\n",
           node.node(), static_cast<unsigned long>(node.least_free_bytes()),
           static_cast<unsigned long>(node.hit()), static_cast<unsigned long>(node.miss()),
           static_cast<unsigned long>(node.foreign()),
           static_cast<unsigned long>(node.interleave_hit()));
  }
  return 0;
}
