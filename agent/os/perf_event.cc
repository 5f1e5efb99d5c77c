#include "agent/os/perf_event.h"

#include <errno.h>

#include <cstring>

namespace memagent::os {
namespace {

// Cuts `attr` down to `size` bytes. False when that would lose a field somebody set.
bool ShrinkAttr(perf_event_attr& attr, uint32_t size) {
  if (size < PERF_ATTR_SIZE_VER0 || size >= sizeof(attr)) return false;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&attr);
  for (size_t i = size; i < sizeof(attr); ++i) {
    if (bytes[i] != 0) return false;
  }
  attr.size = size;
  return true;
}

}  // namespace

perf_event_attr NewPerfAttr(uint32_t type, uint64_t config) {
  perf_event_attr attr;
  memset(&attr, 0, sizeof(attr));
  attr.type = type;
  attr.size = sizeof(attr);
  attr.config = config;
  attr.disabled = 1;
  attr.read_format = kPerfReadFormat;
  return attr;
}

long OpenPerfEvent(perf_event_attr& attr, const PerfTarget& target, PerfEventOpenCall call) {
  const uint32_t own_size = attr.size;
  long result = call(&attr, target);
  if (result == -E2BIG) {
    const uint32_t kernel_size = attr.size;
    attr.size = own_size;
    // The same errno without a new size: the records would be too large, shrinking can't help.
    if (kernel_size >= own_size || !ShrinkAttr(attr, kernel_size)) return result;
    result = call(&attr, target);
  }
  if (result == -EINVAL && (attr.read_format & PERF_FORMAT_LOST) != 0) {
    attr.read_format &= ~static_cast<uint64_t>(PERF_FORMAT_LOST);
    result = call(&attr, target);
  }
  return result;
}

long EnablePerfEvent(int fd) { return perf_calls->control(fd, PERF_EVENT_IOC_ENABLE, 0); }

long DisablePerfEvent(int fd) { return perf_calls->control(fd, PERF_EVENT_IOC_DISABLE, 0); }

long SetPerfPeriod(int fd, uint64_t period) {
  return perf_calls->control(fd, PERF_EVENT_IOC_PERIOD, reinterpret_cast<uint64_t>(&period));
}

long RedirectPerfOutput(int fd, int ring_fd) {
  return perf_calls->control(fd, PERF_EVENT_IOC_SET_OUTPUT,
                             static_cast<uint64_t>(static_cast<int64_t>(ring_fd)));
}

long ReadPerfEventId(int fd, uint64_t& id) {
  return perf_calls->control(fd, PERF_EVENT_IOC_ID, reinterpret_cast<uint64_t>(&id));
}

std::optional<uint64_t> PerfEventId(int fd) {
  uint64_t id = 0;
  if (ReadPerfEventId(fd, id) < 0) return std::nullopt;
  return id;
}

std::optional<PerfCounts> ParsePerfCounts(std::span<const uint64_t> words, uint64_t read_format) {
  if ((read_format & PERF_FORMAT_GROUP) != 0 || words.empty()) return std::nullopt;
  PerfCounts counts;
  counts.value = words[0];
  size_t next = 1;
  const auto take = [&](uint64_t bit, uint64_t& field) {
    if ((read_format & bit) == 0) return true;
    if (next >= words.size()) return false;
    field = words[next++];
    return true;
  };
  // Order of uapi perf_event.h, enum perf_event_read_format.
  const bool complete = take(PERF_FORMAT_TOTAL_TIME_ENABLED, counts.enabled_nanos) &&
                        take(PERF_FORMAT_TOTAL_TIME_RUNNING, counts.running_nanos) &&
                        take(PERF_FORMAT_ID, counts.id) && take(PERF_FORMAT_LOST, counts.lost);
  if (!complete) return std::nullopt;
  counts.has_lost = (read_format & PERF_FORMAT_LOST) != 0;
  return counts;
}

std::optional<PerfCounts> ReadPerfCounts(int fd, uint64_t read_format) {
  uint64_t words[8];
  const long got = perf_calls->read(fd, words, sizeof(words));
  if (got < 0) return std::nullopt;
  return ParsePerfCounts({words, static_cast<size_t>(got) / sizeof(uint64_t)}, read_format);
}

}  // namespace memagent::os
