// What the engines' attempts have in common. For the files *_selection only. Pure.
#ifndef MEMAGENT_AGENT_CAPTURE_EVENT_ATTEMPTS_H_
#define MEMAGENT_AGENT_CAPTURE_EVENT_ATTEMPTS_H_

#include <linux/perf_event.h>

#include <cstdint>
#include <string_view>

#include "agent/base/containers.h"
#include "agent/capture/engine_facts.h"
#include "agent/capture/engine_plan.h"
#include "agent/os/pmu.h"

namespace memagent::capture {

// Samples of all events share one ring and one clock, the one that allocations are stamped with.
// IDENTIFIER is first in each record and tells the events apart. Not PERF_SAMPLE_PERIOD: with it a
// software event writes every occurrence, whatever its period (facts: perf_abi 5.1).
inline constexpr uint64_t kCommonSample =
    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

// What the PMUs tell of an access beside that.
inline constexpr uint64_t kAccessSample =
    PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR;

inline constexpr std::string_view kNoPhysicalAddress = "No physical address.";

// A sampling event with the common sample, CLOCK_MONOTONIC (one of the two clocks that every PMU
// takes, facts: perf_abi 1.1) and a fixed period, disabled.
perf_event_attr NewSamplingAttr(uint32_t type, uint64_t config, uint64_t period);

// Appends a sentence.
void AddLoss(base::String& losses, std::string_view loss);

// Appends `best`, without what this process surely may not have, then what is left of it with less
// and less in a record: what this kernel may refuse, one thing at a time.
void AddWithSteps(const EngineFacts& facts, EventAttempt best, EventLadder& ladder);

// An attempt with what PMUs tell of an access, named "PMU/EVENT/" as for perf. `event` "" for a PMU
// with one event.
EventAttempt NewPmuAttempt(const os::Pmu& pmu, std::string_view event, uint64_t period);

// Sets a field of the PMU's and says so in the attempt's name; false when there is no such field.
bool SetTerm(const os::Pmu& pmu, std::string_view field, uint64_t value, EventAttempt& attempt);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_EVENT_ATTEMPTS_H_
