#include "viewer/site_match.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "viewer/concat.h"
#include "viewer/function_name.h"

namespace memagent::viewer {
namespace {

using SitesByKey = std::map<std::string, Sites>;

// A byte that occurs in no name.
const std::string& Separator() {
  static const std::string separator(1, '\0');
  return separator;
}

std::string_view FunctionOf(const CodeLine& line) {
  return line.function.empty() ? std::string_view(line.module) : std::string_view(line.function);
}

// "": no key, this site is not matched in this way.
std::string NameKey(const SiteView& site) {
  return site.stack.empty() ? Concat(site.kind, Separator(), site.name) : "";
}

std::string StackKey(const SiteView& site) {
  if (site.stack.empty()) return "";
  std::string key = Concat(site.kind, Separator(), site.name);
  for (const CodeLine& line : site.stack) Append(key, Separator(), FunctionOf(line));
  return key;
}

std::string FunctionsKey(const SiteView& site) {
  std::set<std::string_view> functions;
  for (const CodeLine& line : site.stack) {
    if (!line.short_function.empty() && !IsPlumbing(line.short_function)) {
      functions.insert(line.function);
    }
  }
  if (functions.empty()) return "";
  std::string key = site.kind;
  for (const std::string_view function : functions) Append(key, Separator(), function);
  return key;
}

std::string FunctionKey(const SiteView& site) {
  if (site.where.function.empty()) return "";
  return Concat(site.kind, Separator(), site.where.function);
}

// In the same code: the address of a call. Code that is made at run time has no module, and its
// addresses mean nothing in another run.
std::string PlaceOf(const CodeLine& line) {
  return line.module.empty() ? Concat(":", line.line) : Concat(line.address);
}

std::string ExactStackKey(const SiteView& site) {
  std::string key = StackKey(site);
  for (const CodeLine& line : site.stack) Append(key, Separator(), PlaceOf(line));
  return key;
}

std::string ExactFunctionsKey(const SiteView& site) {
  std::string key = FunctionsKey(site);
  if (key.empty()) return "";
  std::set<std::string> places;
  for (const CodeLine& line : site.stack) {
    if (!IsPlumbing(line.short_function)) places.insert(PlaceOf(line));
  }
  for (const std::string& place : places) Append(key, Separator(), place);
  return key;
}

// Where the code of the stack is: lines where they are known, else addresses.
std::vector<uint64_t> Lines(const SiteView& site) {
  std::vector<uint64_t> lines = {site.where.line == 0 ? site.where.address : site.where.line};
  for (const CodeLine& line : site.stack) {
    lines.push_back(line.line == 0 ? line.address : line.line);
  }
  return lines;
}

// Of two calls on one line the first has the lower address, in most builds.
std::vector<uint64_t> Addresses(const SiteView& site) {
  std::vector<uint64_t> addresses = {site.where.address};
  for (const CodeLine& line : site.stack) addresses.push_back(line.address);
  return addresses;
}

bool HasMoved(const SiteView& before, const SiteView& after) {
  if (before.stack.size() != after.stack.size()) return true;
  for (size_t i = 0; i < before.stack.size(); ++i) {
    const CodeLine& a = before.stack[i];
    const CodeLine& b = after.stack[i];
    // Without lines, addresses of another build say nothing.
    if (a.line != 0 && b.line != 0 && a.line != b.line) return true;
  }
  return false;
}

struct PlacedSite {
  std::vector<uint64_t> lines;
  std::vector<uint64_t> addresses;
  uint64_t bytes = 0;
  const SiteView* site = nullptr;
};

bool IsBefore(const PlacedSite& a, const PlacedSite& b) {
  return std::tie(a.lines, a.addresses, a.bytes) < std::tie(b.lines, b.addresses, b.bytes);
}

template <typename KeyOf>
SitesByKey GroupBy(const Sites& sites, KeyOf key_of) {
  SitesByKey groups;
  for (const SiteView* site : sites) groups[key_of(*site)].push_back(site);
  for (auto& [key, group] : groups) {
    std::vector<PlacedSite> ordered;
    for (const SiteView* site : group) {
      ordered.push_back({Lines(*site), Addresses(*site), site->bytes_allocated, site});
    }
    std::stable_sort(ordered.begin(), ordered.end(), IsBefore);
    for (size_t i = 0; i < group.size(); ++i) group[i] = ordered[i].site;
  }
  return groups;
}

class Matcher {
 public:
  Matcher(Sites before, Sites after) : before_(std::move(before)), after_(std::move(after)) {}

  template <typename KeyOf>
  void Match(KeyOf key_of, MatchedBy how) {
    const SitesByKey befores = GroupBy(before_, key_of);
    const SitesByKey afters = GroupBy(after_, key_of);
    before_.clear();
    after_.clear();
    for (const auto& [key, group] : befores) {
      const auto found = afters.find(key);
      if (key.empty() || found == afters.end()) {
        before_.insert(before_.end(), group.begin(), group.end());
      } else {
        PairUp(group, found->second, how);
      }
    }
    for (const auto& [key, group] : afters) {
      if (!key.empty() && befores.contains(key)) continue;
      after_.insert(after_.end(), group.begin(), group.end());
    }
  }

  std::vector<SitePair> Finish() {
    for (const SiteView* site : before_) {
      pairs_.push_back({site, nullptr, MatchedBy::kNothing, false});
    }
    for (const SiteView* site : after_) {
      pairs_.push_back({nullptr, site, MatchedBy::kNothing, false});
    }
    return std::move(pairs_);
  }

 private:
  void PairUp(Sites befores, Sites afters, MatchedBy how) {
    // As many as before: all may have moved, in order. Else those that did not move go first.
    if (befores.size() != afters.size()) PairEqualLines(befores, afters, how);
    const size_t pairs = std::min(befores.size(), afters.size());
    for (size_t i = 0; i < pairs; ++i) Pair(befores[i], afters[i], how);
    const auto count = static_cast<std::ptrdiff_t>(pairs);
    before_.insert(before_.end(), befores.begin() + count, befores.end());
    after_.insert(after_.end(), afters.begin() + count, afters.end());
  }

  // Both are ordered by Lines().
  void PairEqualLines(Sites& befores, Sites& afters, MatchedBy how) {
    Sites befores_left;
    Sites afters_left;
    size_t k = 0;
    for (const SiteView* before : befores) {
      const std::vector<uint64_t> lines = Lines(*before);
      while (k < afters.size() && Lines(*afters[k]) < lines) afters_left.push_back(afters[k++]);
      if (k < afters.size() && Lines(*afters[k]) == lines) {
        Pair(before, afters[k++], how);
      } else {
        befores_left.push_back(before);
      }
    }
    afters_left.insert(afters_left.end(), afters.begin() + static_cast<std::ptrdiff_t>(k),
                       afters.end());
    befores = std::move(befores_left);
    afters = std::move(afters_left);
  }

  void Pair(const SiteView* before, const SiteView* after, MatchedBy how) {
    pairs_.push_back({before, after, how, HasMoved(*before, *after)});
  }

  Sites before_;
  Sites after_;
  std::vector<SitePair> pairs_;
};

}  // namespace

std::string_view MatchedByWord(MatchedBy how) {
  constexpr std::array<std::string_view, kMatchedByCount> kWords = {
      "name", "call_stack", "functions", "function", "nothing"};
  return kWords[static_cast<size_t>(how)];
}

Sites AllSites(const View& view) {
  Sites sites;
  for (const SiteView& site : view.sites) sites.push_back(&site);
  return sites;
}

std::vector<SitePair> MatchSites(const Sites& before, const Sites& after, bool same_code) {
  Matcher matcher(before, after);
  matcher.Match(NameKey, MatchedBy::kName);
  if (same_code) {
    matcher.Match(ExactStackKey, MatchedBy::kCallStack);
    matcher.Match(ExactFunctionsKey, MatchedBy::kFunctions);
  } else {
    matcher.Match(StackKey, MatchedBy::kCallStack);
    matcher.Match(FunctionsKey, MatchedBy::kFunctions);
    matcher.Match(FunctionKey, MatchedBy::kFunction);
  }
  return matcher.Finish();
}

}  // namespace memagent::viewer
