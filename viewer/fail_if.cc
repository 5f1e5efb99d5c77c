#include "viewer/fail_if.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "viewer/concat.h"

namespace memagent::viewer {
namespace {

using Column = FailCondition::Column;

struct ColumnInfo {
  std::string_view name;
  Column column;
  bool in_points;  // else in per cent of BEFORE
  bool of_sites;
  bool of_total;
};

constexpr std::array<ColumnInfo, 7> kColumns = {{
    {"remote", Column::kRemote, true, true, true},
    {"share", Column::kShare, true, true, false},
    {"latency_share", Column::kLatencyShare, true, true, false},
    {"time", Column::kTime, false, true, true},
    {"latency", Column::kLatency, false, true, true},
    {"wall", Column::kWall, false, false, true},
    {"verdict", Column::kVerdict, false, true, true},
}};

const ColumnInfo& Info(Column column) {
  return *std::find_if(kColumns.begin(), kColumns.end(),
                       [column](const ColumnInfo& info) { return info.column == column; });
}

constexpr std::array<Verdict, 9> kVerdicts = {
    Verdict::kFixed, Verdict::kBetter,        Verdict::kWorse,
    Verdict::kMixed, Verdict::kSame,          Verdict::kNew,
    Verdict::kGone,  Verdict::kNoClearChange, Verdict::kNotEnoughSamples};

// "*" stands for any text, also none.
bool Matches(std::string_view pattern, std::string_view text) {
  size_t star = std::string_view::npos;
  size_t resume = 0;
  size_t p = 0;
  for (size_t t = 0; t < text.size();) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool IsPattern(const FailCondition& condition) {
  return condition.what.find('*') != std::string::npos;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The last column in the text: names of functions may hold any character.
struct Split {
  std::string_view what;
  const ColumnInfo* column = nullptr;
  std::string_view rest;  // from the operator on
};

std::optional<Split> SplitAtColumn(std::string_view text) {
  for (size_t dot = text.rfind('.'); dot != std::string_view::npos && dot > 0;
       dot = text.rfind('.', dot - 1)) {
    const std::string_view tail = text.substr(dot + 1);
    const size_t end = tail.find_first_of("<>=! ");
    const std::string_view name = tail.substr(0, end);
    for (const ColumnInfo& info : kColumns) {
      if (info.name != name || end == std::string_view::npos) continue;
      return Split{Trim(text.substr(0, dot)), &info, Trim(tail.substr(end))};
    }
  }
  return std::nullopt;
}

std::string ParseVerdict(std::string_view rest, FailCondition& condition) {
  condition.above = rest.starts_with("=");
  if (!condition.above && !rest.starts_with("!=")) {
    return "a verdict is compared with = or !=";
  }
  condition.word = Trim(rest.substr(condition.above ? 1 : 2));
  std::string words;
  for (const Verdict verdict : kVerdicts) {
    if (VerdictWord(verdict) == condition.word) return "";
    Append(words, words.empty() ? "" : ", ", VerdictWord(verdict));
  }
  return Concat("the verdicts are ", words);
}

std::string ParseThreshold(std::string_view rest, FailCondition& condition) {
  condition.above = rest.starts_with(">");
  if (!condition.above && !rest.starts_with("<")) return "a change is compared with > or <";
  std::string_view number = Trim(rest.substr(1));
  if (!number.starts_with("+") && !number.starts_with("-")) {
    return "a change needs its sign, as in >+5 or <-5";
  }
  const bool negative = number.front() == '-';
  number.remove_prefix(1);
  double value = 0;
  const auto end = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool whole = end.ec == std::errc() && end.ptr == number.data() + number.size();
  if (!whole || !std::isfinite(value) || value < 0) return "the change must be a number";
  condition.threshold = (negative ? -value : value) / 100;
  return "";
}

// The change of a row, or of the total, that a column is about; null: the diff does not have it.
const Change* ChangeOfRow(const DiffRow& row, Column column) {
  switch (column) {
    case Column::kRemote:
      return &row.remote;
    case Column::kShare:
      return &row.share;
    case Column::kLatencyShare:
      return &row.latency_share;
    case Column::kTime:
      return &row.amount;
    case Column::kLatency:
      return &row.latency;
    default:
      return nullptr;
  }
}

const Change* ChangeOfTotal(const Diff& diff, Column column) {
  switch (column) {
    case Column::kRemote:
      return &diff.remote;
    case Column::kTime:
      return &diff.amount;
    case Column::kLatency:
      return &diff.latency;
    case Column::kWall:
      return &diff.wall;
    default:
      return nullptr;
  }
}

// Why the diff does not have the column; "" when it does.
std::string Missing(const Diff& diff, Column column) {
  const Comparability& comparable = diff.comparable;
  const bool timed =
      column == Column::kTime || column == Column::kLatency || column == Column::kWall;
  if (timed && !comparable.times) return "the CPUs of the runs differ";
  if (column == Column::kWall) return "";
  if (!comparable.shares) return "the runs were measured in different ways";
  if (column == Column::kRemote && !comparable.nodes) return "the nodes of the runs differ";
  if (column == Column::kRemote && !diff.has_remote) return "no run tells nodes apart";
  const bool latency = column == Column::kLatency || column == Column::kLatencyShare;
  if (latency && !diff.has_latency) return "the engine tells no latency";
  if (column == Column::kTime && !diff.amount_is_time) return "a sample stands for no time";
  return "";
}

// What a condition is held against: one site, or the total.
struct Subject {
  std::string name;
  const Change* change = nullptr;                // null: of a verdict
  Verdict verdict = Verdict::kNotEnoughSamples;  // of the column, which a change must have
};

// Too few samples judge neither a number nor a verdict: the count of tests leaves them out, too.
Verdict VerdictOfColumn(const DiffRow& row, Column column) {
  if (column == Column::kVerdict) return row.verdict;
  return column == Column::kRemote ? row.remote_verdict : row.cost_verdict;
}

Verdict VerdictOfTotal(const Diff& diff, Column column) {
  switch (column) {
    case Column::kTime:
      return JudgeAmount(diff.amount);
    case Column::kLatency:
      return diff.latency_verdict;
    case Column::kWall:
      return diff.wall_verdict;
    default:
      return diff.remote_verdict;
  }
}

class Checker {
 public:
  Checker(const FailCondition& condition, const Diff& diff) : condition_(condition), diff_(diff) {}

  FailOutcome Run() {
    const bool total = condition_.what == "total";
    // The verdict of the total is that of its remote share.
    const bool of_remote = total && condition_.column == Column::kVerdict;
    const std::string missing = Missing(diff_, of_remote ? Column::kRemote : condition_.column);
    if (!missing.empty()) {
      outcome_.problem = Concat("--fail-if ", condition_.text, " can't be checked: ", missing, ".");
      return std::move(outcome_);
    }
    const std::vector<Subject> subjects =
        total ? std::vector<Subject>{{"total", ChangeOfTotal(diff_, condition_.column),
                                      VerdictOfTotal(diff_, condition_.column)}}
              : MatchingSites();
    if (subjects.empty() && !IsPattern(condition_)) {
      outcome_.problem =
          Concat("--fail-if ", condition_.text, ": there is no site ", condition_.what, ".");
      return std::move(outcome_);
    }
    Check(subjects);
    return std::move(outcome_);
  }

 private:
  std::vector<Subject> MatchingSites() const {
    std::vector<Subject> subjects;
    for (const DiffRow& row : diff_.rows) {
      const std::string& function = row.any().where.short_function;
      const std::string id = row.before.Id();
      const bool by_id = !id.empty() && Matches(condition_.what, id);
      if (!by_id && !Matches(condition_.what, function)) continue;
      std::string name = id.empty() ? Concat("new site ", function) : Concat(id, " ", function);
      subjects.push_back({std::move(name), ChangeOfRow(row, condition_.column),
                          VerdictOfColumn(row, condition_.column)});
    }
    return subjects;
  }

  // Of many, those that can't be judged go without saying, but not all of them.
  void Check(const std::vector<Subject>& subjects) {
    // A name can be that of many sites, as a pattern can.
    several_ = IsPattern(condition_) || subjects.size() > 1;
    size_t judged = 0;
    std::string why = "no site matches";
    for (const Subject& subject : subjects) {
      why = condition_.column == Column::kVerdict ? CheckVerdict(subject) : CheckChange(subject);
      if (why.empty()) ++judged;
      if (!why.empty()) why = Concat(subject.name, " can't be judged, ", why);
    }
    if (judged > 0) return;
    if (subjects.size() > 1) why = Concat("none of ", subjects.size(), " sites can be judged");
    outcome_.unjudged.push_back(Concat("--fail-if ", condition_.text, ": ", why, "."));
  }

  // These return why it can't be judged, "" when it was.
  std::string CheckVerdict(const Subject& subject) {
    const bool is_word = VerdictWord(subject.verdict) == condition_.word;
    if (is_word == condition_.above) {
      Fail(Concat(subject.name, " is ", VerdictWord(subject.verdict)));
      return "";
    }
    return subject.verdict == Verdict::kNotEnoughSamples && !is_word ? kTooFew : "";
  }

  std::string CheckChange(const Subject& subject) {
    if (subject.change == nullptr || !subject.change->HasInterval()) return "there is no interval";
    if (subject.verdict == Verdict::kNotEnoughSamples) return kTooFew;
    const Change& change = *subject.change;
    const bool points = Info(condition_.column).in_points;
    const double unit = points ? 1 : *change.before;
    if (unit <= 0) return "before there was nothing that a change could be a part of";
    const Interval& interval = several_ ? change.judged : change.interval;
    const bool beyond = condition_.above ? interval.low / unit > condition_.threshold
                                         : interval.high / unit < condition_.threshold;
    if (!beyond) return "";
    const double bound = (condition_.above ? interval.low : interval.high) / unit;
    Fail(Concat(subject.name, " changed by ", Number(change.Value() / unit),
                points ? " points" : " %", ", at ", condition_.above ? "least " : "most ",
                Number(bound)));
    return "";
  }

  static std::string Number(double part) {
    return Concat(part < 0 ? "-" : "+", Fixed(std::fabs(part) * 100, 1));
  }

  void Fail(const std::string& sentence) {
    outcome_.failures.push_back(Concat("--fail-if ", condition_.text, ": ", sentence, "."));
  }

  static constexpr const char* kTooFew = "it has too few samples";

  const FailCondition& condition_;
  const Diff& diff_;
  bool several_ = false;
  FailOutcome outcome_;
};

}  // namespace

ParsedCondition ParseFailCondition(std::string_view text) {
  const auto refuse = [text](std::string_view why) {
    return ParsedCondition{std::nullopt, Concat("--fail-if ", text, ": ", why, ".")};
  };
  const std::optional<Split> split = SplitAtColumn(text);
  if (!split) {
    return refuse(
        "a condition reads WHAT.COLUMN>+N or WHAT.verdict=WORD, with a COLUMN of remote, share, "
        "latency_share, time, latency, wall");
  }
  FailCondition condition;
  condition.text = text;
  condition.what = split->what;
  condition.column = split->column->column;
  if (condition.what.empty()) return refuse("it names neither total nor a site");
  const bool total = condition.what == "total";
  if (total && !split->column->of_total) {
    return refuse(Concat("the total has no ", split->column->name));
  }
  if (!total && !split->column->of_sites) return refuse("only the total has a wall time");
  const std::string problem = condition.column == Column::kVerdict
                                  ? ParseVerdict(split->rest, condition)
                                  : ParseThreshold(split->rest, condition);
  if (!problem.empty()) return refuse(problem);
  return {std::move(condition), ""};
}

FailOutcome CheckFailCondition(const FailCondition& condition, const Diff& diff) {
  return Checker(condition, diff).Run();
}

}  // namespace memagent::viewer
