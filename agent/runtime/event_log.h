// What the agent could not do, and why: sentences for the profile (and for stderr with verbose=1).
// Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_RUNTIME_EVENT_LOG_H_
#define MEMAGENT_AGENT_RUNTIME_EVENT_LOG_H_

#include <string_view>

#include "agent/base/containers.h"
#include "agent/os/clock.h"
#include "agent/profile/model.h"

namespace memagent::runtime {

class EventLog {
 public:
  struct Entry {
    Nanos time;
    profile::Severity severity;
    base::String code;
    base::String text;
  };

  // A bounded list: a fault that repeats must not fill the profile.
  static constexpr size_t kMaxEntries = 200;

  // Adds an entry unless one with the same code and text is there.
  void Add(profile::Severity severity, std::string_view code, std::string_view text) {
    if (entries_.size() >= kMaxEntries) return;
    for (const Entry& entry : entries_) {
      if (entry.code == code && entry.text == text) return;
    }
    entries_.push_back({os::MonotonicNanos(), severity, base::String(code), base::String(text)});
  }

  const base::Vector<Entry>& entries() const { return entries_; }

 private:
  base::Vector<Entry> entries_;
};

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_EVENT_LOG_H_
