// Time of allocation events: 32 bits of the time-stamp counter, in units of 256 ticks.
//
// At 2 to 4 GHz a unit is 64 to 128 ns and the value wraps after 4.6 to 9 minutes. Values are only
// ever compared by age against a recent `now`, so a wrap matters only for an event that is an exact
// multiple of the wrap old: with samples settled within 20 ms the chance is below 1e-4.
#ifndef MEMAGENT_AGENT_LEDGER_EVENT_TIME_H_
#define MEMAGENT_AGENT_LEDGER_EVENT_TIME_H_

#include <cstdint>

#include "agent/os/tsc.h"

namespace memagent::ledger {

using EventTime = uint32_t;

#if defined(__x86_64__)
inline constexpr int kEventTimeShift = 8;
#else
inline constexpr int kEventTimeShift = 0;  // the generic timer ticks at 25 MHz to 1 GHz
#endif

inline EventTime FromTsc(uint64_t tsc) { return static_cast<EventTime>(tsc >> kEventTimeShift); }

inline EventTime Now() { return FromTsc(os::ReadTsc()); }

// How long before `now` an event was.
inline uint32_t Age(EventTime event, EventTime now) { return now - event; }

// True when `event` happened at or before `moment`, both in the past of `now`.
inline bool AtOrBefore(EventTime event, EventTime moment, EventTime now) {
  return Age(event, now) >= Age(moment, now);
}

}  // namespace memagent::ledger

#endif  // MEMAGENT_AGENT_LEDGER_EVENT_TIME_H_
