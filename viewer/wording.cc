#include "viewer/wording.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "viewer/concat.h"
#include "viewer/text.h"

namespace memagent::viewer {
namespace {

std::string Hex(uint64_t value) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return std::string(digits.data(), end.ptr);
}

std::string RateText(const memagent::v1::Engine& engine, const Terminal& terminal) {
  if (engine.rate_hz() > 0) {
    const auto rate = static_cast<uint64_t>(engine.rate_hz() + 0.5);
    return Concat(", ", GroupedCount(rate), " samples per second of each thread's CPU time");
  }
  if (engine.period() == 0) return "";
  if (engine.period_unit() == "ns") {
    return Concat(", a sample every ", HumanDuration(engine.period()),
                  " of each thread's CPU time");
  }
  return Concat(", 1 in ", GroupedCount(engine.period()), " ", terminal.Safe(engine.period_unit()));
}

}  // namespace

std::string EstimateText(std::string_view text, uint64_t count, double variance,
                         const Terminal& terminal) {
  if (variance == 0) return std::string(text);
  if (count == 0) return Concat("~", text);
  const auto estimate = static_cast<double>(count);
  const Interval interval = EstimateInterval(estimate, variance);
  const double wider = std::max(estimate - interval.low, interval.high - estimate) / estimate;
  // A hostile file may claim any variance.
  const std::string percent = wider > 9.99 ? ">999" : Fixed(wider * 100, wider < 0.0995 ? 1 : 0);
  return Concat("~", text, " ", terminal.glyphs().plus_minus, percent, " %");
}

std::string SamplingText(const View& view, const Terminal& terminal) {
  const memagent::v1::Economy& economy = view.profile.economy;
  const std::string bytes = HumanBytes(economy.largest_sample_bytes());
  const bool constant = economy.sample_bytes() == economy.largest_sample_bytes();
  return Concat("Numbers of blocks and bytes after ~ are estimates, ", terminal.glyphs().plus_minus,
                " their 95 % interval: blocks under ", bytes, " were tracked by chance, ",
                constant ? "" : "at the lowest rate ", "one for each ", bytes, " allocated.");
}

std::string BudgetText(const View& view) {
  const memagent::v1::Economy& economy = view.profile.economy;
  std::string text =
      Concat("Budget ", Percent(economy.budget_share()), " of the program's CPU time: about ",
             Percent(economy.overhead_share()), " were spent, rates were changed ",
             Plural(economy.budget_steps(), "time"), ".");
  if (economy.largest_period_factor() <= 1) return text;
  return Concat(text, " Accesses were sampled down to 1/", economy.largest_period_factor(),
                " of the rate: such a sample counts ", economy.largest_period_factor(),
                " times, the intervals allow for it.");
}

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string LocationText(const CodeLine& line, const Terminal& terminal) {
  if (!line.file.empty()) {
    const std::string file = terminal.Safe(BaseName(line.file));
    return line.line == 0 ? file : Concat(file, ":", line.line);
  }
  if (!line.module.empty()) {
    return Concat(terminal.Safe(BaseName(line.module)), "+0x", Hex(line.address));
  }
  return line.address == 0 ? "" : Concat("0x", Hex(line.address));
}

std::string CodeText(const CodeLine& line, const Terminal& terminal) {
  const std::string location = LocationText(line, terminal);
  const std::string function = terminal.Safe(line.short_function);
  if (function.empty() && location.empty()) return "unknown code";
  if (function.empty()) return location;
  return location.empty() ? function : Concat(function, " ", location);
}

std::string SiteName(const SiteView& site, const Terminal& terminal) {
  const std::string name = terminal.Safe(site.where.short_function);
  if (!name.empty()) return site.kind == "file" ? std::string(BaseName(name)) : name;
  if (!site.stack.empty()) return "";
  if (site.kind == "unknown") return "(unknown)";
  return Concat("(", site.kind, ")");
}

std::string SiteLocation(const SiteView& site, const Terminal& terminal) {
  if (site.kind == "stack") return "stack";
  return LocationText(site.where, terminal);
}

std::string EngineText(const View& view, const Terminal& terminal) {
  if (!view.engine_record) return "no engine in use";
  return Concat(view.engine, " engine", RateText(*view.engine_record, terminal));
}

std::string CommandLineText(const View& view, const Terminal& terminal) {
  const memagent::v1::Process& process = view.profile.header.process();
  if (process.arguments_size() == 0) {
    const std::string name = terminal.Safe(BaseName(process.executable()));
    return name.empty() ? "(unknown program)" : name;
  }
  std::string result = terminal.Safe(BaseName(process.arguments(0)));
  for (int i = 1; i < process.arguments_size(); ++i) {
    Append(result, " ", terminal.Safe(process.arguments(i)));
  }
  return result;
}

std::string ThreadText(const View& view, uint32_t thread_id, const Terminal& terminal) {
  const auto found = std::find_if(view.threads.begin(), view.threads.end(),
                                  [&](const ThreadView& t) { return t.id == thread_id; });
  if (thread_id == 0 || found == view.threads.end()) return "an unknown thread";
  const std::string name = terminal.Safe(found->name);
  return name.empty() ? Concat("thread ", found->tid) : Concat(name, " (", found->tid, ")");
}

std::string NodeText(int32_t node) { return node < 0 ? "an unknown node" : Concat("node ", node); }

std::string ShellWord(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./+=:,@%").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

}  // namespace memagent::viewer
