#include "viewer/diff.h"

#include <algorithm>
#include <map>
#include <utility>

#include "viewer/concat.h"
#include "viewer/text.h"
#include "viewer/wording.h"

namespace memagent::viewer {
namespace {

using Sites = std::vector<const SiteView*>;
using SitesByKey = std::map<std::string, Sites>;

// Names are joined by a byte that occurs in none of them.
std::string StackKey(const SiteView& site) {
  std::string key = Concat(site.kind, std::string(1, '\0'), site.name);
  for (const CodeLine& line : site.stack) {
    const std::string& name = line.function.empty() ? line.module : line.function;
    Append(key, std::string(1, '\0'), name);
  }
  return key;
}

std::string FunctionKey(const SiteView& site) {
  return Concat(site.kind, std::string(1, '\0'), site.where.function);
}

template <typename KeyOf>
SitesByKey GroupBy(const Sites& sites, KeyOf key_of) {
  SitesByKey groups;
  for (const SiteView* site : sites) groups[key_of(*site)].push_back(site);
  for (auto& [key, group] : groups) {
    std::stable_sort(group.begin(), group.end(), [](const SiteView* a, const SiteView* b) {
      return std::pair(a->where.line, a->where.address) <
             std::pair(b->where.line, b->where.address);
    });
  }
  return groups;
}

Sites AllSites(const View& view) {
  Sites sites;
  for (const SiteView& site : view.sites) sites.push_back(&site);
  return sites;
}

class Matcher {
 public:
  Matcher(const View& before, const View& after)
      : before_left_(AllSites(before)), after_left_(AllSites(after)) {}

  template <typename KeyOf>
  void Match(KeyOf key_of, MatchedBy how) {
    SitesByKey after_groups = GroupBy(after_left_, key_of);
    Sites before_rest;
    Sites after_rest;
    for (auto& [key, group] : GroupBy(before_left_, key_of)) {
      Sites& others = after_groups[key];
      const size_t pairs = std::min(group.size(), others.size());
      for (size_t i = 0; i < pairs; ++i) Add(group[i], others[i], how);
      before_rest.insert(before_rest.end(), group.begin() + static_cast<ptrdiff_t>(pairs),
                         group.end());
      others.erase(others.begin(), others.begin() + static_cast<ptrdiff_t>(pairs));
    }
    for (auto& [key, group] : after_groups) {
      after_rest.insert(after_rest.end(), group.begin(), group.end());
    }
    before_left_ = std::move(before_rest);
    after_left_ = std::move(after_rest);
  }

  std::vector<DiffRow> Finish() {
    for (const SiteView* site : before_left_) Add(site, nullptr, MatchedBy::kNothing);
    for (const SiteView* site : after_left_) Add(nullptr, site, MatchedBy::kNothing);
    return std::move(rows_);
  }

 private:
  void Add(const SiteView* before, const SiteView* after, MatchedBy how) {
    DiffRow row;
    row.before = before;
    row.after = after;
    row.matched_by = how;
    rows_.push_back(row);
  }

  Sites before_left_;
  Sites after_left_;
  std::vector<DiffRow> rows_;
};

// What the samples of the two runs weigh against each other.
TwoTotals Weights(const View& before, const View& after) {
  const std::optional<SampleWeight> a = WeightOfSample(before);
  const std::optional<SampleWeight> b = WeightOfSample(after);
  TwoTotals totals;
  totals.design_effect_before = before.design_effect;
  totals.design_effect_after = after.design_effect;
  if (a && b && a->unit == b->unit) {
    totals.weight_before = a->amount;
    totals.weight_after = b->amount;
  }
  return totals;
}

void JudgeRow(DiffRow& row, uint64_t whole_before, uint64_t whole_after) {
  row.samples.design_effect_before = row.remote.design_effect_before =
      row.totals.design_effect_before;
  row.samples.design_effect_after = row.remote.design_effect_after = row.totals.design_effect_after;
  row.samples.whole_before = whole_before;
  row.samples.whole_after = whole_after;
  if (row.before != nullptr) {
    row.samples.part_before = row.before->samples;
    row.remote.part_before = row.before->remote_samples;
    row.remote.whole_before = row.before->located_samples;
  }
  if (row.after != nullptr) {
    row.samples.part_after = row.after->samples;
    row.remote.part_after = row.after->remote_samples;
    row.remote.whole_after = row.after->located_samples;
  }
  row.totals.samples_before = row.samples.part_before;
  row.totals.samples_after = row.samples.part_after;
  row.verdict = JudgeChange(row.samples, row.totals);
  if (row.verdict == Verdict::kNotEnoughSamples) return;
  if (row.before == nullptr) row.verdict = Verdict::kNew;
  if (row.after == nullptr) row.verdict = Verdict::kGone;
}

void Count(Diff& diff, const DiffRow& row) {
  if (row.before == nullptr) ++diff.added;
  if (row.after == nullptr) ++diff.gone;
  if (row.before == nullptr || row.after == nullptr) return;
  diff.matched_samples_before += row.before->samples;
  diff.matched_samples_after += row.after->samples;
  ++(row.matched_by == MatchedBy::kCallStack ? diff.matched_by_stack : diff.matched_by_function);
}

std::string PeriodWord(const View& view) {
  if (!view.engine_record) return "none";
  return Concat(GroupedCount(view.engine_record->period()), " ", view.engine_record->period_unit());
}

std::string SamplingWord(const View& view) {
  return view.IsSampled() ? HumanBytes(view.profile.economy.largest_sample_bytes()) : "none";
}

std::string Arguments(const View& view) {
  std::string text;
  const auto& arguments = view.profile.header.process().arguments();
  for (int i = 1; i < arguments.size(); ++i) Append(text, i > 1 ? " " : "", arguments.Get(i));
  return text;
}

std::string BuildId(const View& view) {
  const std::string& executable = view.profile.header.process().executable();
  for (const auto& module : view.profile.modules) {
    if (view.profile.Text(module.path()) == executable) return module.build_id();
  }
  return "";
}

std::vector<std::string> Differences(const View& a, const View& b) {
  std::vector<std::string> result;
  const auto compare = [&](std::string_view what, const std::string& x, const std::string& y) {
    if (x != y) result.push_back(Concat(what, " (", x, " / ", y, ")"));
  };
  const auto& first = a.profile.header;
  const auto& second = b.profile.header;
  compare("engine", a.engine, b.engine);
  compare("period", PeriodWord(a), PeriodWord(b));
  compare("sampling of blocks", SamplingWord(a), SamplingWord(b));
  compare("number of nodes", Concat(a.node_count), Concat(b.node_count));
  compare("CPU model", first.machine().cpu_model(), second.machine().cpu_model());
  compare("program", std::string(BaseName(first.process().executable())),
          std::string(BaseName(second.process().executable())));
  compare("arguments", Arguments(a), Arguments(b));
  return result;
}

}  // namespace

double DiffRow::LargerShare() const {
  return std::max(Share(samples.part_before, samples.whole_before),
                  Share(samples.part_after, samples.whole_after));
}

std::optional<SampleWeight> WeightOfSample(const View& view) {
  if (!view.engine_record || view.engine_record->period() == 0) return std::nullopt;
  return SampleWeight{static_cast<double>(view.engine_record->period()),
                      view.engine_record->period_unit()};
}

Diff Compare(const View& before, const View& after) {
  Matcher matcher(before, after);
  matcher.Match(StackKey, MatchedBy::kCallStack);
  matcher.Match(FunctionKey, MatchedBy::kFunction);
  Diff diff;
  diff.rows = matcher.Finish();
  const TwoTotals weights = Weights(before, after);
  for (DiffRow& row : diff.rows) {
    row.totals = weights;
    JudgeRow(row, before.tally.MemorySamples(), after.tally.MemorySamples());
    Count(diff, row);
  }
  std::stable_sort(diff.rows.begin(), diff.rows.end(), [](const DiffRow& a, const DiffRow& b) {
    return a.LargerShare() > b.LargerShare();
  });
  diff.differences = Differences(before, after);
  diff.same_build = BuildId(before) == BuildId(after);
  return diff;
}

}  // namespace memagent::viewer
