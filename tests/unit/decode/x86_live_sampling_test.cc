// The resolver against the machine it runs on: cpu-clock samples of four kernels with one known
// array each, resolved as the agent does it, must fall into that array.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "agent/decode/access_resolver.h"
#include "agent/decode/perf_record.h"
#include "agent/os/perf_event.h"
#include "agent/os/perf_ring.h"

namespace memagent::decode {
namespace {

constexpr uint64_t kSampleType = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_IDENTIFIER;
constexpr uint64_t kPeriodNanos = 250'000;
constexpr size_t kArrayBytes = size_t{32} << 20;
constexpr uint64_t kCpuNanosPerKernel = 250'000'000;  // processor time, whatever else runs

// 32 MiB of touched memory, far beyond the caches' share of one thread.
class Array {
 public:
  Array()
      : words_(static_cast<uint64_t*>(mmap(nullptr, kArrayBytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0))) {}
  ~Array() { munmap(words_, kArrayBytes); }
  uint64_t* words() const { return words_; }
  bool Contains(uint64_t address) const {
    return address - reinterpret_cast<uint64_t>(words_) < kArrayBytes;
  }

 private:
  uint64_t* words_;
};

// Links one word of each 64-byte line into one random cycle.
void LinkRandomly(uint64_t* words) {
  const size_t lines = kArrayBytes / 64;
  std::vector<uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  for (size_t i = 0; i < lines; ++i) {
    words[order[i] * size_t{8}] =
        reinterpret_cast<uint64_t>(&words[order[(i + 1) % lines] * size_t{8}]);
  }
}

// The kernels are assembly, so that every build type and compiler samples the same code.
[[gnu::noinline]] uint64_t* Chase(uint64_t* at, uint64_t count) {
  asm volatile("1: mov (%0),%0\n dec %1\n jne 1b" : "+r"(at), "+r"(count) : : "cc", "memory");
  return at;
}

[[gnu::noinline]] uint64_t RandomStore(uint64_t* words, uint64_t seed, uint64_t count) {
  uint64_t scratch = 0;
  asm volatile(
      "1: mov %0,%2\n shl $13,%2\n xor %2,%0\n"
      "mov %0,%2\n shr $7,%2\n xor %2,%0\n"
      "mov %0,%2\n shl $17,%2\n xor %2,%0\n"
      "mov %0,%2\n and $0x3fffff,%2\n"
      "mov %0,(%3,%2,8)\n dec %1\n jne 1b"
      : "+r"(seed), "+r"(count), "+&r"(scratch)
      : "r"(words)
      : "cc", "memory");
  return seed;
}

[[gnu::noinline]] uint64_t Stream(const uint64_t* at, const uint64_t* end) {
  uint64_t sum = 0;
  asm volatile("1: add (%0),%1\n add $8,%0\n cmp %2,%0\n jne 1b"
               : "+r"(at), "+r"(sum)
               : "r"(end)
               : "cc", "memory");
  return sum;
}

[[gnu::noinline]] uint64_t HotTable(const uint64_t* words, uint64_t count) {
  uint64_t index = 1;
  asm volatile("1: mov (%2,%0,8),%0\n dec %1\n jne 1b"
               : "+r"(index), "+r"(count)
               : "r"(words)
               : "cc", "memory");
  return index;
}

uint64_t CpuNanos() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

struct Counts {
  uint64_t by_evidence[kEvidenceCount] = {};
  uint64_t by_reason[kUnresolvedCount] = {};
  uint64_t samples = 0;
  uint64_t right = 0;
  uint64_t wrong = 0;
};

class LiveSampling : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(os::LoadZydis().loaded) << os::LoadZydis().reason;
    resolver_.emplace(code_);
    resolver_->SetCutsAccesses(__builtin_cpu_is("intel") != 0);
    perf_event_attr attr = os::NewPerfAttr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
    attr.sample_type = kSampleType;
    attr.sample_regs_user = kRegisterMask;
    attr.sample_period = kPeriodNanos;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    fd_ = static_cast<int>(os::OpenPerfEvent(attr, {}));
    if (fd_ < 0) GTEST_SKIP() << "perf_event_open refused cpu-clock with errno " << -fd_;
    const long mapped = ring_.Map(fd_, 64);
    if (mapped < 0) GTEST_SKIP() << "mapping the ring was refused with errno " << -mapped;
  }
  void TearDown() override {
    ring_.Unmap();
    if (fd_ >= 0) close(fd_);
  }

  Counts Sample(const Array& array, const std::function<void()>& run_briefly) {
    const uint64_t end = CpuNanos() + kCpuNanosPerKernel;
    os::EnablePerfEvent(fd_);
    while (CpuNanos() < end) run_briefly();
    os::DisablePerfEvent(fd_);
    Counts counts;
    ring_.Drain([&](std::span<const uint8_t> bytes) {
      const auto record = ParseRecord(bytes, {kSampleType, kRegisterMask});
      if (record && record->kind == RecordKind::kSample) Add(record->sample, array, counts);
    });
    return counts;
  }

  void Add(const RawSample& sample, const Array& array, Counts& counts) {
    const auto result = resolver_->Resolve(sample, 0);
    ++counts.samples;
    ++counts.by_evidence[static_cast<size_t>(result.access.evidence)];
    ++counts.by_reason[static_cast<size_t>(result.why)];
    const bool has_address = result.access.evidence == Evidence::kExact ||
                             result.access.evidence == Evidence::kApproximate;
    if (!has_address) return;
    ++(array.Contains(result.access.address) ? counts.right : counts.wrong);
  }

  void ExpectRight(const char* name, const Counts& counts, double least_resolved) {
    std::printf(
        "%s: %llu samples, none %llu, exact %llu, approximate %llu, pc-only %llu; "
        "ambiguous %llu; in the array %llu, elsewhere %llu\n",
        name, ULL(counts.samples), ULL(counts.by_evidence[0]), ULL(counts.by_evidence[1]),
        ULL(counts.by_evidence[2]), ULL(counts.by_evidence[3]), ULL(counts.by_reason[4]),
        ULL(counts.right), ULL(counts.wrong));
    ASSERT_GT(counts.samples, 100u);
    const double resolved = static_cast<double>(counts.right + counts.wrong);
    EXPECT_GE(resolved, least_resolved * static_cast<double>(counts.samples));
    EXPECT_GE(static_cast<double>(counts.right), 0.95 * resolved);
  }
  static unsigned long long ULL(uint64_t value) { return value; }

  ProcessCode code_;
  std::optional<AccessResolver> resolver_;
  os::PerfRing ring_;
  int fd_ = -1;
  Array array_;
};

TEST_F(LiveSampling, DependentChaseFallsIntoItsList) {
  LinkRandomly(array_.words());
  uint64_t* at = array_.words();
  ExpectRight("chase", Sample(array_, [&] { at = Chase(at, 10'000); }), 0.9);
}

TEST_F(LiveSampling, RandomStoreFallsIntoItsTable) {
  uint64_t seed = 88172645463325252;
  ExpectRight("random store",
              Sample(array_, [&] { seed = RandomStore(array_.words(), seed, 50'000); }), 0.3);
}

TEST_F(LiveSampling, StreamFallsIntoItsArray) {
  const uint64_t* const words = array_.words();
  uint64_t sum = 0;
  ExpectRight("stream", Sample(array_, [&] { sum += Stream(words, words + kArrayBytes / 8); }),
              0.3);
}

TEST_F(LiveSampling, HotTableFallsIntoItsTable) {
  for (uint64_t i = 0; i < 1024; ++i) array_.words()[i] = (i * 5 + 1) % 1024;
  uint64_t sum = 0;
  ExpectRight("hot table", Sample(array_, [&] { sum += HotTable(array_.words(), 50'000); }), 0.3);
}

}  // namespace
}  // namespace memagent::decode
