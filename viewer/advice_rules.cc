#include "viewer/advice_rules.h"

#include <algorithm>
#include <utility>

#include "agent/profile/reader.h"
#include "viewer/advice.h"
#include "viewer/advice_text.h"
#include "viewer/query.h"

namespace memagent::viewer {
namespace {

double WorstCase(const Prediction& now, const Prediction& after) {
  return after.interval.high * RelativeDistance(now, after);
}

// nullptr: no rule can apply any of it.
const Advice* Chosen(const Diagnosis& diagnosis) {
  const Advice* best = nullptr;
  for (const Advice& advice : diagnosis.advice) {
    if (advice.rule.empty() || !advice.after) continue;
    if (best == nullptr ||
        WorstCase(diagnosis.now, *advice.after) < WorstCase(diagnosis.now, *best->after)) {
      best = &advice;
    }
  }
  return best;
}

}  // namespace

AdvisedRules RulesOf(const View& view, const std::string& profile_path, size_t most) {
  std::vector<std::pair<double, std::string>> rules;
  for (const SiteView& site : view.sites) {
    const Diagnosis diagnosis = Diagnose(view, site);
    const Advice* advice = Chosen(diagnosis);
    if (advice == nullptr) continue;
    rules.emplace_back(advice->gain ? advice->gain->share : 0, RuleOf(site, *advice, profile_path));
  }
  std::stable_sort(rules.begin(), rules.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  AdvisedRules result;
  for (auto& rule : rules) {
    if (result.rules.size() < most) result.rules.push_back(std::move(rule.second));
  }
  result.left_out = rules.size() - result.rules.size();
  return result;
}

std::vector<std::string> PlacementRules(const std::string& profile_path, size_t most,
                                        size_t& left_out, std::string& error) {
  profile::LoadResult loaded = profile::LoadProfile(profile_path);
  if (!loaded.profile) {
    error = loaded.problem;
    return {};
  }
  error.clear();
  const View view = BuildView(std::move(*loaded.profile), {.lines = false});
  AdvisedRules advised = RulesOf(view, profile_path, most);
  left_out = advised.left_out;
  return std::move(advised.rules);
}

}  // namespace memagent::viewer
