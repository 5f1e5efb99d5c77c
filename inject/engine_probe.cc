#include "inject/engine_probe.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "agent/base/engine_names.h"
#include "agent/capture/engine_errors.h"
#include "agent/os/clock.h"
#include "agent/os/file.h"
#include "agent/os/perf_attr_text.h"
#include "agent/os/perf_event.h"

namespace memagent::inject {
namespace {

using capture::EventAttempt;
using capture::EventScope;

// Events that share a counter take turns every 4 ms (perf_event_mux_interval_ms).
constexpr uint64_t kRunNanos = 20'000'000;

std::string Text(std::string_view view) { return std::string(view); }

std::string AttrText(const perf_event_attr& attr) { return Text(os::PerfAttrText(attr)); }

// The events of one attempt, open.
struct Opened {
  os::UniqueFd leader;
  os::UniqueFd event;
  perf_event_attr attr = {};  // as the kernel took it
};

Opened Open(const EventAttempt& attempt) {
  Opened opened;
  os::PerfTarget target;
  // The agent opens it on every CPU; that one lets it tells of all.
  if (attempt.scope == EventScope::kCpu) target = {.tid = -1, .cpu = sched_getcpu()};
  if (attempt.has_leader) {
    perf_event_attr leader = attempt.leader;
    opened.leader = os::UniqueFd(os::OpenPerfEvent(leader, target));
    if (!opened.leader.valid()) {
      opened.event = os::UniqueFd(-opened.leader.error());
      return opened;
    }
    target.leader = opened.leader.get();
  }
  opened.attr = attempt.attr;
  opened.event = os::UniqueFd(os::OpenPerfEvent(opened.attr, target));
  return opened;
}

// An event can open and then never be scheduled: too few counters, another session's IBS, a PMU
// that is virtual in name only (facts: perf_abi 8.1).
std::string WhetherItRuns(const Opened& opened) {
  os::EnablePerfEvent(opened.event.get());
  const Nanos end = os::ThreadCpuNanos() + kRunNanos;
  while (true) {
    const auto counts = os::ReadPerfCounts(opened.event.get(), opened.attr.read_format);
    if (!counts) return "not tried";
    if (counts->running_nanos > 0) return "yes";
    if (os::ThreadCpuNanos() > end) return "no";
  }
}

// SPE needs its AUX area to run; an event of one kind of core runs on that kind only.
bool CanRunHere(const capture::EngineFacts& facts, EngineKind engine, const EventAttempt& attempt) {
  const auto& pmus = facts.pmus.pmus;
  const bool some_cpus = std::any_of(pmus.begin(), pmus.end(), [&](const os::Pmu& pmu) {
    return pmu.type == attempt.attr.type && !pmu.cpus.empty();
  });
  return engine != EngineKind::kSpe && !some_cpus;
}

RefusedAttempt Refused(const capture::EngineFacts& facts, EngineKind engine,
                       const EventAttempt& attempt, int error) {
  const capture::EngineError why = capture::ExplainEngineError(
      capture::EngineStep::kOpen, error, capture::ContextOf(facts, engine, attempt));
  return {Text(attempt.event), AttrText(attempt.attr), error,
          Text(why.name) + ": " + Text(why.meaning), Text(why.remedy)};
}

void SayWhy(const capture::EnginePlan& plan, EngineFinding& finding) {
  for (const EventFinding& event : finding.events) {
    if (event.opens && event.ran != "no") {
      finding.usable = true;
      finding.detail = event.event + " opens.";
      finding.remedy = "";
      return;
    }
    if (!event.refused.empty()) {
      finding.detail = event.refused.back().event + ": " + event.refused.back().cause;
      finding.remedy = event.refused.back().remedy;
    }
    if (event.opens) {
      finding.detail = event.event + " opens, but the kernel never lets it run.";
      finding.remedy =
          "Stop other profilers on this machine (perf, another memagent), and: sysctl "
          "kernel.nmi_watchdog=0";
    }
  }
  if (plan.access.empty()) finding.detail = "There is no event to try.";
}

EngineFinding ProbePlan(const capture::EngineFacts& facts, const capture::EnginePlan& plan) {
  EngineFinding finding;
  finding.name = Text(base::EngineName(plan.engine));
  finding.period = plan.period;
  finding.period_unit = Text(plan.period_unit);
  for (const capture::EventLadder& ladder : plan.access) {
    finding.events.push_back(ProbeLadder(facts, plan.engine, ladder));
  }
  SayWhy(plan, finding);
  return finding;
}

}  // namespace

std::vector<std::string> GivenBy(EngineKind engine, const EventAttempt& attempt) {
  const uint64_t sample = attempt.attr.sample_type;
  const bool spe = engine == EngineKind::kSpe;
  const bool hardware = engine != EngineKind::kSoftware;
  std::vector<std::string> gives = {hardware ? "exact instruction" : "instruction"};
  const auto add = [&](bool given, const char* what) {
    if (given) gives.emplace_back(what);
  };
  add(spe || (sample & PERF_SAMPLE_ADDR) != 0, "data address");
  add(attempt.has_registers, "data address by decoding");
  add(spe || (sample & PERF_SAMPLE_DATA_SRC) != 0, "load or store");
  add(spe || (sample & PERF_SAMPLE_DATA_SRC) != 0, "data source");
  add(spe || (sample & PERF_SAMPLE_WEIGHT_TYPE) != 0, "latency");
  add(spe ? (attempt.attr.config & 2) != 0 : (sample & PERF_SAMPLE_PHYS_ADDR) != 0,
      "physical address");
  add((sample & PERF_SAMPLE_DATA_PAGE_SIZE) != 0, "page size");
  add(engine == EngineKind::kIbs && (sample & PERF_SAMPLE_RAW) != 0, "width and TLB details");
  add(engine == EngineKind::kProfileMe, "fate and stalls");
  return gives;
}

EventFinding ProbeLadder(const capture::EngineFacts& facts, EngineKind engine,
                         const capture::EventLadder& ladder) {
  EventFinding finding;
  finding.ran = "not tried";
  if (!ladder.empty()) finding.event = Text(ladder.front().event);
  for (const EventAttempt& attempt : ladder) {
    const Opened opened = Open(attempt);
    if (!opened.event.valid()) {
      finding.refused.push_back(Refused(facts, engine, attempt, opened.event.error()));
      continue;
    }
    finding.opens = true;
    finding.event = Text(attempt.event);
    finding.attr = AttrText(opened.attr);
    if (attempt.has_leader) finding.leader = AttrText(attempt.leader);
    finding.gives = GivenBy(engine, attempt);
    finding.lacks = Text(attempt.loss);
    if (CanRunHere(facts, engine, attempt)) finding.ran = WhetherItRuns(opened);
    break;
  }
  return finding;
}

namespace {

// The order in which SelectEvents would try them.
void SortByTurn(std::vector<EngineFinding>& findings) {
  constexpr std::string_view kTurns[] = {"ibs", "pebs", "spe", "profileme", "software"};
  std::stable_sort(findings.begin(), findings.end(), [&](const auto& left, const auto& right) {
    return std::find(std::begin(kTurns), std::end(kTurns), left.name) <
           std::find(std::begin(kTurns), std::end(kTurns), right.name);
  });
}

}  // namespace

std::vector<EngineFinding> ProbeEngines(const capture::EngineFacts& facts,
                                        const capture::EventSelection& selection) {
  std::vector<EngineFinding> findings;
  bool chosen = false;
  for (const capture::EnginePlan& plan : selection.plans) {
    EngineFinding finding = ProbePlan(facts, plan);
    finding.chosen = finding.usable && !chosen;
    chosen |= finding.chosen;
    findings.push_back(std::move(finding));
  }
  for (const capture::EngineRefusal& refusal : selection.refusals) {
    EngineFinding finding;
    finding.name = Text(base::EngineName(refusal.engine));
    finding.detail = Text(refusal.reason);
    finding.remedy = Text(refusal.remedy);
    findings.push_back(std::move(finding));
  }
  SortByTurn(findings);
  return findings;
}

}  // namespace memagent::inject
