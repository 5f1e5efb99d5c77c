// Plays the kernel's side of perf events for tests: descriptors are memory files, rings and AUX
// areas are mapped from them, a test writes the records. One at a time.
#ifndef MEMAGENT_TESTS_SUPPORT_FAKE_PERF_H_
#define MEMAGENT_TESTS_SUPPORT_FAKE_PERF_H_

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "agent/os/machine.h"
#include "agent/os/perf_calls.h"
#include "tests/support/record_builder.h"

namespace memagent::testing {

// What the kernel keeps of one descriptor.
struct FakeEvent {
  perf_event_attr attr = {};
  os::PerfTarget target;
  uint64_t id = 0;
  int fd = -1;
  int output = -1;  // whose ring its records go to; -1: its own
  bool enabled = false;
  int times_enabled = 0;
  uint64_t period = 0;
  size_t data_bytes = 0;
  size_t aux_bytes = 0;
  // What read() gives.
  uint64_t value = 0;
  uint64_t enabled_nanos = 0;
  uint64_t running_nanos = 0;
  uint64_t lost = 0;
};

class FakePerf {
 public:
  // Each may refuse a call: a negative errno; 0 lets it happen.
  std::function<long(const perf_event_attr&, const os::PerfTarget&)> on_open;
  std::function<long(const FakeEvent&, bool is_aux)> on_map;
  std::function<long(const FakeEvent&, unsigned long request)> on_control;
  std::function<long(const FakeEvent&)> on_read;

  FakePerf() {
    current_ = this;
    os::perf_calls = &kCalls;
  }
  ~FakePerf() {
    os::perf_calls = &os::kernel_perf_calls;
    current_ = nullptr;
  }
  FakePerf(const FakePerf&) = delete;
  FakePerf& operator=(const FakePerf&) = delete;

  // The last event that was opened with such an attr; nullptr: none.
  FakeEvent* Find(uint32_t type, uint64_t config) {
    FakeEvent* found = nullptr;
    for (auto& [fd, event] : events_) {
      const bool same = event.attr.type == type && event.attr.config == config;
      if (same && (found == nullptr || event.id > found->id)) found = &event;
    }
    return found;
  }
  const std::map<int, FakeEvent>& events() const { return events_; }

  // A record into the ring that the event writes to. False when there is no room.
  bool Write(const FakeEvent& event, std::span<const uint8_t> bytes) {
    const FakeEvent& owner = event.output < 0 ? event : events_.at(event.output);
    perf_event_mmap_page* page = Page(owner);
    auto* data = reinterpret_cast<uint8_t*>(page) + os::PageBytes();
    if (page->data_head + bytes.size() - page->data_tail > owner.data_bytes) return false;
    for (size_t i = 0; i < bytes.size(); ++i) {
      data[(page->data_head + i) & (owner.data_bytes - 1)] = bytes[i];
    }
    std::atomic_ref<decltype(page->data_head)>(page->data_head)
        .store(page->data_head + bytes.size(), std::memory_order_release);
    return true;
  }

  // Bytes into the event's AUX area, without a word. Returns where they begin.
  uint64_t WriteArea(const FakeEvent& event, std::span<const uint8_t> bytes) {
    perf_event_mmap_page* page = Page(event);
    const uint64_t start = page->aux_head;
    for (size_t i = 0; i < bytes.size(); ++i) {
      Area(event)[(start + i) & (event.aux_bytes - 1)] = bytes[i];
    }
    page->aux_head = start + bytes.size();
    return start;
  }
  // ... announced, by CPU `cpu` at `time`.
  void WriteAux(const FakeEvent& event, std::span<const uint8_t> bytes, uint64_t flags = 0,
                uint32_t cpu = 0, uint64_t time = 0) {
    const uint64_t start = WriteArea(event, bytes);
    RecordBuilder record(PERF_RECORD_AUX);
    record.U64(start).U64(bytes.size()).U64(flags);
    // sample_id_all of the software's common sample, without IP: TID TIME CPU IDENTIFIER.
    record.U32(1).U32(static_cast<uint32_t>(event.target.tid)).U64(time).U32(cpu).U32(0);
    Write(event, record.U64(event.id).Bytes());
  }
  perf_event_mmap_page* Page(const FakeEvent& event) { return PageOf(event.fd); }

 private:
  static constexpr size_t kFileBytes = size_t{4} << 20;

  perf_event_mmap_page* PageOf(int fd) {
    void*& view = views_[fd];
    if (view == nullptr) {
      view = mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    return static_cast<perf_event_mmap_page*>(view);
  }
  uint8_t* Area(const FakeEvent& event) {
    return reinterpret_cast<uint8_t*>(Page(event)) + Page(event)->aux_offset;
  }

  long DoOpen(perf_event_attr* attr, const os::PerfTarget& target) {
    const long refused = on_open ? on_open(*attr, target) : 0;
    if (refused != 0) return refused;
    const int fd = memfd_create("perf", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, kFileBytes) != 0) return -EMFILE;
    views_.erase(fd);  // of a descriptor that had the number before
    FakeEvent event;
    event.attr = *attr;
    event.target = target;
    event.id = ++last_id_;
    event.fd = fd;
    event.enabled = attr->disabled == 0;
    event.period = attr->sample_period;
    events_[fd] = event;
    return fd;
  }
  long DoMap(void* start, size_t bytes, int flags, int fd, uint64_t offset) {
    FakeEvent& event = events_.at(fd);
    const long refused = on_map ? on_map(event, offset != 0) : 0;
    if (refused != 0) return refused;
    if (offset == 0) {
      event.data_bytes = bytes - os::PageBytes();
      PageOf(fd)->data_offset = os::PageBytes();
      PageOf(fd)->data_size = event.data_bytes;
    } else {
      event.aux_bytes = bytes;
    }
    return os::kernel_perf_calls.map(start, bytes, flags, fd, offset);
  }
  long DoControl(int fd, unsigned long request, uint64_t argument) {
    if (!events_.contains(fd)) return -EBADF;
    FakeEvent& event = events_.at(fd);
    const long refused = on_control ? on_control(event, request) : 0;
    if (refused != 0) return refused;
    if (request == PERF_EVENT_IOC_ENABLE) {
      event.enabled = true;
      ++event.times_enabled;
    }
    if (request == PERF_EVENT_IOC_DISABLE) event.enabled = false;
    if (request == PERF_EVENT_IOC_PERIOD) event.period = *reinterpret_cast<uint64_t*>(argument);
    if (request == PERF_EVENT_IOC_SET_OUTPUT) event.output = static_cast<int>(argument);
    if (request == PERF_EVENT_IOC_ID) *reinterpret_cast<uint64_t*>(argument) = event.id;
    return 0;
  }
  long DoRead(int fd, void* buffer, size_t bytes) {
    const FakeEvent& event = events_.at(fd);
    const long refused = on_read ? on_read(event) : 0;
    if (refused != 0) return refused;
    const uint64_t words[] = {event.value, event.enabled_nanos, event.running_nanos, event.id,
                              event.lost};
    const size_t size = std::min(bytes, sizeof(words));
    memcpy(buffer, words, size);
    return static_cast<long>(size);
  }

  static long Open(perf_event_attr* attr, const os::PerfTarget& target) {
    return current_->DoOpen(attr, target);
  }
  static long Map(void* start, size_t bytes, int flags, int fd, uint64_t offset) {
    return current_->DoMap(start, bytes, flags, fd, offset);
  }
  static long Control(int fd, unsigned long request, uint64_t argument) {
    return current_->DoControl(fd, request, argument);
  }
  static long Read(int fd, void* buffer, size_t bytes) {
    return current_->DoRead(fd, buffer, bytes);
  }
  static constexpr os::PerfCalls kCalls = {Open, Map, Control, Read};
  static inline FakePerf* current_ = nullptr;

  std::map<int, FakeEvent> events_;  // by descriptor
  std::map<int, void*> views_;
  uint64_t last_id_ = 0;
};

}  // namespace memagent::testing

#endif  // MEMAGENT_TESTS_SUPPORT_FAKE_PERF_H_
