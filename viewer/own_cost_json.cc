#include "viewer/own_cost_json.h"

#include "viewer/own_cost_text.h"

namespace memagent::viewer {
namespace {

Json CostPartsJson(const memagent::v1::OwnCost& cost) {
  Json json = Json::array();
  for (const auto& part : cost.part()) {
    json.push_back({{"what", part.what()},
                    {"inside", part.inside()},
                    {"basis", CostBasisWord(part.basis())},
                    {"count", part.count()},
                    {"samples", part.samples()},
                    {"mean_ns", static_cast<double>(part.mean_picos()) / 1000},
                    {"total_ns", part.total_nanos()},
                    {"error_ns", part.error_nanos()}});
  }
  return json;
}

Json HeldMemoryJson(const memagent::v1::OwnCost& cost) {
  Json json = Json::array();
  for (const auto& held : cost.held()) {
    json.push_back({{"what", held.what()},
                    {"mapped_bytes", held.mapped_bytes()},
                    {"resident_bytes", held.resident_bytes()}});
  }
  return json;
}

}  // namespace

Json OwnCostJson(const View& view) {
  const memagent::v1::OwnCost& cost = view.profile.own_cost;
  return {{"drain_cpu_ns", cost.drain_cpu_nanos()},
          {"hook_ns", view.HookNanos()},
          {"bytes_mapped", cost.bytes_mapped()},
          {"allocations_tracked", cost.allocations_tracked()},
          {"live_blocks", cost.live_blocks()},
          {"stacks", cost.stacks()},
          {"stack_cache_hits", cost.stack_cache_hits()},
          {"stack_cache_misses", cost.stack_cache_misses()},
          {"checkpoints", cost.checkpoints()},
          {"checkpoint_ns", cost.checkpoint_nanos()},
          {"page_node_rung", cost.page_node_rung()},
          {"clock_error_ns", cost.clock_error_nanos()},
          {"profile_bytes", cost.profile_bytes()},
          {"profile_rewrites", cost.profile_rewrites()},
          {"process_cpu_ns", cost.process_cpu_nanos()},
          {"estimated_ns", cost.estimated_nanos()},
          {"estimated_error_ns", cost.estimated_error_nanos()},
          {"share", OwnCostShare(cost)},
          {"parts", CostPartsJson(cost)},
          {"held", HeldMemoryJson(cost)}};
}

}  // namespace memagent::viewer
