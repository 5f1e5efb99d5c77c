#include "viewer/own_cost_text.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "viewer/concat.h"
#include "viewer/text.h"

namespace memagent::viewer {
namespace {

using memagent::v1::CostPart;
using memagent::v1::OwnCost;

// Of a part: what it is called, and what one of it is.
struct PartWord {
  std::string_view what;
  std::string_view label;
  std::string_view of;  // "": it happens once
};
constexpr std::array kPartWords = {
    PartWord{"allocation", "allocations", "allocation"},
    PartWord{"free", "frees", "free"},
    PartWord{"new_stack", "new stacks", "walk of a new call stack"},
    PartWord{"cache_refill", "caches refilled", "new call stack"},
    PartWord{"thread_start", "thread starts", "thread start"},
    PartWord{"access_sample", "samples", "sample"},
    PartWord{"fault_record", "page faults", "recorded page fault"},
    PartWord{"start", "start", ""},
    PartWord{"page", "pages", "page given back"},
    PartWord{"drain", "drain thread", ""},
    PartWord{"stack_look_up", "stack look-up", "look-up of a known call stack"},
    PartWord{"checkpoint", "checkpoints", "checkpoint"},
};

PartWord WordOf(std::string_view what) {
  const auto known = std::find_if(kPartWords.begin(), kPartWords.end(),
                                  [&](const PartWord& word) { return word.what == what; });
  return known != kPartWords.end() ? *known : PartWord{what, what, what};
}

// "58.3 ns", "1.50 us"
std::string HumanPicos(uint64_t picos) {
  if (picos >= 1'000'000) return HumanDuration(picos / 1000);
  return Concat(Fixed(static_cast<double>(picos) / 1000, 1), " ns");
}

// At least a fifth of what the process took: an estimate can be too high (runtime/economy.cc).
double ProgramNanos(const OwnCost& cost) {
  const auto process = static_cast<double>(cost.process_cpu_nanos());
  return std::max(process / 5, process - static_cast<double>(cost.estimated_nanos()));
}

double ShareOf(uint64_t nanos, const OwnCost& cost) {
  const double program = ProgramNanos(cost);
  return program > 0 ? static_cast<double>(nanos) / program : 0;
}

std::string BasisText(const CostPart& part) {
  switch (part.basis()) {
    case CostPart::SAMPLED:
      return Concat(GroupedCount(part.samples()), " timed in place");
    case CostPart::COUNTED:
      return "by the kernel's clock of CPU time";
    case CostPart::TRIED:
      return "as in a trial on this machine";
    case CostPart::ASSUMED:
      return "assumed: as on other machines";
    case CostPart::INFERRED:
      return "inferred from timed calls";
    default:
      return "not measured";
  }
}

std::string PartText(const CostPart& part, const Terminal& terminal) {
  const PartWord word = WordOf(part.what());
  std::string text;
  if (!word.of.empty()) {
    Append(text, GroupedCount(part.count()), " at ", HumanPicos(part.mean_picos()), ": ");
  }
  text += HumanDuration(part.total_nanos());
  if (part.error_nanos() > 0) {
    Append(text, " ", terminal.glyphs().plus_minus, HumanDuration(part.error_nanos()));
  }
  if (!part.inside().empty()) {
    Append(text, " of the ", terminal.Safe(WordOf(part.inside()).label));
  }
  return Concat(text, "; ", BasisText(part));
}

// "3.1 % of the program's own CPU time (3.0-3.3)"
std::string InAllText(const OwnCost& cost, const Terminal& terminal) {
  std::string text = Concat("about ", Percent(OwnCostShare(cost)), " of the program's own CPU time");
  const uint64_t error = std::min(cost.estimated_error_nanos(), cost.estimated_nanos());
  const std::string low = PercentNumber(ShareOf(cost.estimated_nanos() - error, cost));
  const std::string high = PercentNumber(ShareOf(cost.estimated_nanos(), cost) + ShareOf(error, cost));
  if (low != high) Append(text, " (", low, terminal.glyphs().dash, high, ")");
  return text;
}

std::string HeldText(const OwnCost& cost, const Terminal& terminal) {
  std::string text;
  for (const auto& held : cost.held()) {
    if (held.resident_bytes() == 0) continue;
    Append(text, text.empty() ? "" : ", ", terminal.Safe(held.what()), " ",
           HumanBytes(held.resident_bytes()));
  }
  return text;
}

}  // namespace

double OwnCostShare(const OwnCost& cost) { return ShareOf(cost.estimated_nanos(), cost); }

std::string CostBasisWord(CostPart::Basis basis) {
  switch (basis) {
    case CostPart::SAMPLED:
      return "sampled";
    case CostPart::COUNTED:
      return "counted";
    case CostPart::TRIED:
      return "tried";
    case CostPart::ASSUMED:
      return "assumed";
    case CostPart::INFERRED:
      return "inferred";
    default:
      return "none";
  }
}

std::vector<LabelledText> OwnCostRows(const View& view, const Terminal& terminal) {
  const OwnCost& cost = view.profile.own_cost;
  if (cost.estimated_nanos() == 0) return {{"CPU time", HumanDuration(cost.drain_cpu_nanos())}};
  std::vector<LabelledText> rows;
  rows.push_back({"in all", Concat(InAllText(cost, terminal), ": ",
                                   HumanDuration(cost.estimated_nanos()), " of ",
                                   HumanDuration(cost.process_cpu_nanos()), " that the process took")});
  for (const CostPart& part : cost.part()) {
    rows.push_back({terminal.Safe(WordOf(part.what()).label), PartText(part, terminal)});
  }
  rows.push_back({"in memory", HeldText(cost, terminal)});
  return rows;
}

std::string OwnCostText(const View& view, const Terminal& terminal) {
  const OwnCost& cost = view.profile.own_cost;
  if (cost.estimated_nanos() == 0) return "";
  std::vector<const CostPart*> parts;
  uint64_t timed = 0;
  for (const CostPart& part : cost.part()) {
    if (part.basis() == CostPart::SAMPLED) timed = std::max(timed, part.samples());
    if (part.inside().empty()) parts.push_back(&part);
  }
  std::stable_sort(parts.begin(), parts.end(), [](const CostPart* a, const CostPart* b) {
    return a->total_nanos() > b->total_nanos();
  });
  std::string text = Concat("memagent's own cost: ", InAllText(cost, terminal));
  std::string_view separator = ": ";
  for (const CostPart* part : parts) {
    const double share = ShareOf(part->total_nanos(), cost);
    if (share < 0.0005) continue;
    Append(text, separator, terminal.Safe(WordOf(part->what()).label), " ", Percent(share));
    if (part->basis() != CostPart::COUNTED) {
      Append(text, " (", HumanPicos(part->mean_picos()), " each)");
    }
    separator = ", ";
  }
  return Concat(text, ". Estimated", timed > 0 ? " from calls timed in place" : "",
                "; memagent info says how.");
}

}  // namespace memagent::viewer
