// Real records of the running kernel, through os/perf_event, os/perf_ring and decode/perf_record.
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include "agent/decode/perf_record.h"
#include "agent/os/clock.h"
#include "agent/os/file.h"
#include "agent/os/machine.h"
#include "agent/os/perf_event.h"
#include "agent/os/perf_ring.h"

namespace memagent::decode {
namespace {

constexpr uint64_t kCommon =
    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

perf_event_attr SoftwareAttr(uint64_t config, uint64_t period, uint64_t more_fields) {
  perf_event_attr attr = os::NewPerfAttr(PERF_TYPE_SOFTWARE, config);
  attr.sample_period = period;
  attr.sample_type = kCommon | more_fields;
  attr.exclude_kernel = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  return attr;
}

// An event on the calling thread with its ring; skips the test when the kernel refuses it.
class PerfLive : public ::testing::Test {
 protected:
  void Open(perf_event_attr attr, size_t pages) {
    fd_ = os::UniqueFd(os::OpenPerfEvent(attr, {}));
    if (!fd_.valid()) GTEST_SKIP() << "perf_event_open is refused here: " << strerror(fd_.error());
    const long mapped = ring_.Map(fd_.get(), pages);
    if (mapped < 0) GTEST_SKIP() << "the ring can't be mapped here: " << strerror(-mapped);
    layout_ = {attr.sample_type, attr.sample_regs_user};
    read_format_ = attr.read_format;
  }
  void TearDown() override {
    ring_.Unmap();
    if (memory_ != nullptr) munmap(memory_, memory_bytes_);
  }
  // Fresh pages, small ones, none of them touched.
  char* FreshPages(size_t count) {
    memory_bytes_ = count * os::PageBytes();
    void* memory =
        mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, memory_bytes_, MADV_NOHUGEPAGE);
    memory_ = static_cast<char*>(memory);
    return memory_;
  }
  // Everything in the ring; what can't be parsed is counted in bad_.
  std::vector<PerfRecord> Drain() {
    std::vector<PerfRecord> records;
    ring_.Drain([&](std::span<const uint8_t> bytes) {
      const auto record = ParseRecord(bytes, layout_);
      record ? records.push_back(*record) : static_cast<void>(++bad_);
    });
    return records;
  }
  bool InMemory(uint64_t address) const {
    const auto start = reinterpret_cast<uint64_t>(memory_);
    return address >= start && address < start + memory_bytes_;
  }

  os::UniqueFd fd_;
  os::PerfRing ring_;
  RecordLayout layout_;
  uint64_t read_format_ = 0;
  size_t bad_ = 0;
  char* memory_ = nullptr;
  size_t memory_bytes_ = 0;
};

TEST_F(PerfLive, FaultAddressIsExactToTheByte) {
  constexpr size_t kPages = 100;
  Open(SoftwareAttr(PERF_COUNT_SW_PAGE_FAULTS_MIN, 1, PERF_SAMPLE_ADDR), 16);
  if (!ring_.mapped()) return;
  char* memory = FreshPages(kPages);
  const Nanos before = os::MonotonicNanos();
  os::EnablePerfEvent(fd_.get());
  for (size_t i = 0; i < kPages; ++i) {
    static_cast<volatile char*>(memory)[i * os::PageBytes() + 100 + i] = 1;
  }
  os::DisablePerfEvent(fd_.get());
  const Nanos after = os::MonotonicNanos();
  size_t next = 0;
  for (const PerfRecord& record : Drain()) {
    ASSERT_EQ(record.kind, RecordKind::kSample);
    if (!InMemory(record.sample.address)) continue;  // faults of the test's own code
    const auto expected = reinterpret_cast<uint64_t>(memory) + next * os::PageBytes() + 100 + next;
    ASSERT_EQ(record.sample.address, expected);
    EXPECT_EQ(record.sample.tid, static_cast<Tid>(syscall(SYS_gettid)));
    EXPECT_EQ(record.event_id, os::PerfEventId(fd_.get()));
    EXPECT_GE(record.sample.time, before);
    EXPECT_LE(record.sample.time, after);
    ++next;
  }
  EXPECT_EQ(next, kPages);
  EXPECT_EQ(bad_, 0u);
}

// Spins with a known value in a register that the compiler can't use for anything else.
[[gnu::noinline]] void SpinForMillis(uint64_t marker, uint64_t millis) {
  const Nanos end = os::MonotonicNanos() + millis * 1'000'000;
  while (os::MonotonicNanos() < end) {
#if defined(__x86_64__)
    uint64_t rounds = 200'000;
    asm volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds) : "b"(marker) : "cc");
#else
    (void)marker;
#endif
  }
}

TEST_F(PerfLive, ClockSamplesCarryTheRegisters) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "user registers are asked for on x86-64 only";
#endif
  constexpr uint64_t kMarker = 0x6d656d6167656e74;
  perf_event_attr attr = SoftwareAttr(PERF_COUNT_SW_CPU_CLOCK, 100'000, PERF_SAMPLE_REGS_USER);
  attr.sample_regs_user = kRegisterMask;
  Open(attr, 16);
  if (!ring_.mapped()) return;
  os::EnablePerfEvent(fd_.get());
  SpinForMillis(kMarker, 20);
  os::DisablePerfEvent(fd_.get());
  size_t samples = 0;
  size_t marked = 0;
  Nanos last = 0;
  for (const PerfRecord& record : Drain()) {
    if (record.kind != RecordKind::kSample) continue;
    const RawSample& sample = record.sample;
    ++samples;
    ASSERT_TRUE(sample.has_registers);
    EXPECT_EQ(sample.registers[static_cast<size_t>(Register::kIp)], sample.ip);
    EXPECT_LT(sample.ip, uint64_t{1} << 63);
    EXPECT_GE(sample.time, last);
    last = sample.time;
    marked += sample.registers[static_cast<size_t>(Register::kBx)] == kMarker;
  }
  printf("[ note ] %zu samples in 20 ms at 100 us, %zu in the marked loop\n", samples, marked);
  EXPECT_EQ(bad_, 0u);
  EXPECT_GE(samples, 20u);
  EXPECT_GE(marked * 10, samples * 9);
}

// The drain thread jitters the period of events that tick in other threads.
TEST_F(PerfLive, PeriodChangesWhileAnotherThreadTicks) {
  Open(SoftwareAttr(PERF_COUNT_SW_CPU_CLOCK, 1'000'000'000, 0), 16);
  if (!ring_.mapped()) return;
  os::EnablePerfEvent(fd_.get());
  std::thread([&] { EXPECT_EQ(os::SetPerfPeriod(fd_.get(), 100'000), 0); }).join();
  SpinForMillis(0, 20);
  std::thread([&] { EXPECT_EQ(os::SetPerfPeriod(fd_.get(), 1'000'000'000), 0); }).join();
  const size_t fast = Drain().size();
  SpinForMillis(0, 20);
  os::DisablePerfEvent(fd_.get());
  EXPECT_GE(fast, 20u);
  EXPECT_LE(Drain().size(), 1u);
}

TEST_F(PerfLive, OverflowIsCountedAsTheKernelCountsIt) {
  constexpr size_t kPages = 1000;
  Open(SoftwareAttr(PERF_COUNT_SW_PAGE_FAULTS_MIN, 1, PERF_SAMPLE_ADDR), 1);
  if (!ring_.mapped()) return;
  char* memory = FreshPages(2 * kPages);
  os::EnablePerfEvent(fd_.get());
  for (size_t i = 0; i < kPages; ++i) static_cast<volatile char*>(memory)[i * os::PageBytes()] = 1;
  const std::vector<PerfRecord> first = Drain();
  // The next record that fits tells what was lost before it.
  for (size_t i = 0; i < 10; ++i) {
    static_cast<volatile char*>(memory)[(kPages + i) * os::PageBytes()] = 1;
  }
  os::DisablePerfEvent(fd_.get());
  const auto counts = os::ReadPerfCounts(fd_.get(), read_format_);
  ASSERT_TRUE(counts.has_value());
  uint64_t samples = 0;
  uint64_t lost = 0;
  for (const std::vector<PerfRecord>& part : {first, Drain()}) {
    for (const PerfRecord& record : part) {
      samples += record.kind == RecordKind::kSample;
      if (record.kind != RecordKind::kLost) continue;
      EXPECT_EQ(record.event_id, counts->id);
      lost += record.count;
    }
  }
  printf("[ note ] %lu faults: %lu samples, %lu lost by records, %lu by the kernel's counter\n",
         static_cast<unsigned long>(counts->value), static_cast<unsigned long>(samples),
         static_cast<unsigned long>(lost), static_cast<unsigned long>(counts->lost));
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(samples + lost, counts->value);
  if (!counts->has_lost) GTEST_SKIP() << "the kernel (before 6.0) has no counter to compare with";
  EXPECT_EQ(lost, counts->lost);
  EXPECT_EQ(ring_.state(), os::RingState::kOk);
}

TEST_F(PerfLive, LossAtTheEndIsVisibleOnlyInTheCounter) {
  Open(SoftwareAttr(PERF_COUNT_SW_PAGE_FAULTS_MIN, 1, PERF_SAMPLE_ADDR), 1);
  if (!ring_.mapped()) return;
  char* memory = FreshPages(300);
  os::EnablePerfEvent(fd_.get());
  for (size_t i = 0; i < 300; ++i) static_cast<volatile char*>(memory)[i * os::PageBytes()] = 1;
  os::DisablePerfEvent(fd_.get());
  const auto counts = os::ReadPerfCounts(fd_.get(), read_format_);
  ASSERT_TRUE(counts.has_value());
  const std::vector<PerfRecord> records = Drain();
  for (const PerfRecord& record : records) EXPECT_EQ(record.kind, RecordKind::kSample);
  if (!counts->has_lost) GTEST_SKIP() << "the kernel (before 6.0) has no counter of losses";
  EXPECT_EQ(records.size() + counts->lost, counts->value);
  EXPECT_GT(counts->lost, 0u);
}

TEST_F(PerfLive, TwoEventsShareARingAndAreToldApart) {
  Open(SoftwareAttr(PERF_COUNT_SW_CPU_CLOCK, 100'000, 0), 16);
  if (!ring_.mapped()) return;
  perf_event_attr attr = SoftwareAttr(PERF_COUNT_SW_PAGE_FAULTS_MIN, 1, PERF_SAMPLE_ADDR);
  const os::UniqueFd faults(os::OpenPerfEvent(attr, {}));
  ASSERT_TRUE(faults.valid());
  ASSERT_EQ(os::RedirectPerfOutput(faults.get(), fd_.get()), 0);
  const uint64_t fault_id = *os::PerfEventId(faults.get());
  char* memory = FreshPages(20);
  os::EnablePerfEvent(fd_.get());
  os::EnablePerfEvent(faults.get());
  for (size_t i = 0; i < 20; ++i) static_cast<volatile char*>(memory)[i * os::PageBytes()] = 1;
  SpinForMillis(0, 5);
  os::DisablePerfEvent(faults.get());
  os::DisablePerfEvent(fd_.get());
  size_t in_memory = 0;
  size_t ticks = 0;
  const RecordLayout fault_layout = {attr.sample_type, 0};
  ring_.Drain([&](std::span<const uint8_t> bytes) {
    const bool is_fault = PeekSampleEventId(bytes) == fault_id;
    const auto record = ParseRecord(bytes, is_fault ? fault_layout : layout_);
    ASSERT_TRUE(record.has_value());
    in_memory += is_fault && InMemory(record->sample.address);
    ticks += !is_fault && record->kind == RecordKind::kSample;
  });
  EXPECT_EQ(in_memory, 20u);
  EXPECT_GT(ticks, 0u);
}

}  // namespace
}  // namespace memagent::decode
