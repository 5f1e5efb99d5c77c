#include "agent/decode/perf_sample.h"

#include <linux/perf_event.h>

#include <bit>

namespace memagent::decode {
namespace {

// Newer than the headers of Debian 12 (Linux 6.12, uapi perf_event.h).
constexpr uint64_t kBranchCounters = uint64_t{1} << 19;

constexpr uint64_t kKnownSample =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_READ |
    PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
    PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
    PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC |
    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_REGS_INTR |
    PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_AUX | PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE |
    PERF_SAMPLE_CODE_PAGE_SIZE;
constexpr uint64_t kKnownRead = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
                                PERF_FORMAT_ID | PERF_FORMAT_GROUP | PERF_FORMAT_LOST;

// Bits 0..11 of the mask are registers 0..11 of ours; bits 16..23 (R8..R15) follow at once.
size_t RegisterIndex(int mask_bit) {
  return static_cast<size_t>(mask_bit < 12 ? mask_bit : mask_bit - 4);
}

void TakeRegisters(RecordReader& reader, uint64_t mask, RawSample& sample) {
  const auto abi = reader.Take<uint64_t>();
  if (abi == PERF_SAMPLE_REGS_ABI_NONE) return;  // a kernel thread, or exiting: nothing follows
  if ((mask & ~kRegisterMask) != 0) {            // of another architecture: no decoder of ours
    return reader.SkipWords(static_cast<uint64_t>(std::popcount(mask)));
  }
  for (int bit = 0; bit < 64; ++bit) {
    if ((mask >> bit & 1) != 0) sample.registers[RegisterIndex(bit)] = reader.Take<uint64_t>();
  }
  // 32-bit code in a 64-bit process: the values are there, but no decoder of ours reads its code.
  sample.has_registers = abi == PERF_SAMPLE_REGS_ABI_64;
}

void SkipRead(RecordReader& reader, uint64_t format) {
  const auto words = [format](uint64_t bits) {
    return static_cast<uint64_t>(std::popcount(format & bits));
  };
  const uint64_t times = words(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
  const uint64_t each = 1 + words(PERF_FORMAT_ID | PERF_FORMAT_LOST);
  if ((format & PERF_FORMAT_GROUP) == 0) return reader.SkipWords(times + each);
  const auto events = reader.Take<uint64_t>();
  reader.SkipWords(times);
  for (uint64_t i = 0; i < events && reader.ok(); ++i) reader.SkipWords(each);
}

void SkipBranches(RecordReader& reader, uint64_t kind) {
  const auto branches = reader.Take<uint64_t>();
  if ((kind & PERF_SAMPLE_BRANCH_HW_INDEX) != 0) reader.SkipWords(1);
  const uint64_t words = (kind & kBranchCounters) != 0 ? 4 : 3;  // from, to, flags, counters
  for (uint64_t i = 0; i < branches && reader.ok(); ++i) reader.SkipWords(words);
}

void SkipUserStack(RecordReader& reader) {
  const auto size = reader.Take<uint64_t>();
  if (size == 0) return;
  reader.TakeBytes(size);
  reader.SkipWords(1);  // how much of it is the stack
}

void SkipInterruptRegisters(RecordReader& reader, uint64_t mask) {
  if (reader.Take<uint64_t>() == PERF_SAMPLE_REGS_ABI_NONE) return;
  reader.SkipWords(static_cast<uint64_t>(std::popcount(mask)));
}

// One 8-byte field: WEIGHT is a number, WEIGHT_STRUCT three (facts: perf_abi 1.5).
void TakeWeight(RecordReader& reader, bool is_struct, RawSample& sample) {
  const auto bits = reader.Take<uint64_t>();
  sample.weight = is_struct ? bits & 0xffffffff : bits;
  if (!is_struct) return;
  sample.weight2 = static_cast<uint16_t>(bits >> 32);
  sample.weight3 = static_cast<uint16_t>(bits >> 48);
}

// Up to and with the event's period: fields of fixed size.
void TakeFront(RecordReader& reader, uint64_t type, RawSample& sample) {
  const auto has = [type](uint64_t bit) { return (type & bit) != 0; };
  if (has(PERF_SAMPLE_IDENTIFIER)) sample.event_id = reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_IP)) sample.ip = reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_TID)) {
    sample.pid = reader.Take<int32_t>();
    sample.tid = reader.Take<Tid>();
  }
  if (has(PERF_SAMPLE_TIME)) sample.time = reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_ADDR)) sample.address = reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_ID)) sample.event_id = reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_STREAM_ID)) reader.SkipWords(1);
  if (has(PERF_SAMPLE_CPU)) {
    sample.cpu = reader.Take<uint32_t>();
    reader.Take<uint32_t>();  // reserved
  }
  if (has(PERF_SAMPLE_PERIOD)) sample.period = reader.Take<uint64_t>();
}

// Fields whose size the record itself tells.
void TakeMiddle(RecordReader& reader, const RecordLayout& layout, RawSample& sample) {
  const auto has = [&layout](uint64_t bit) { return (layout.sample_type & bit) != 0; };
  if (has(PERF_SAMPLE_READ)) SkipRead(reader, layout.read_format);
  if (has(PERF_SAMPLE_CALLCHAIN)) reader.SkipWords(reader.Take<uint64_t>());
  if (has(PERF_SAMPLE_RAW)) sample.raw = reader.TakeBytes(reader.Take<uint32_t>());
  if (has(PERF_SAMPLE_BRANCH_STACK)) SkipBranches(reader, layout.branch_sample_type);
  if (has(PERF_SAMPLE_REGS_USER)) TakeRegisters(reader, layout.register_mask, sample);
  if (has(PERF_SAMPLE_STACK_USER)) SkipUserStack(reader);
}

void TakeBack(RecordReader& reader, const RecordLayout& layout, RawSample& sample) {
  const auto has = [&layout](uint64_t bit) { return (layout.sample_type & bit) != 0; };
  if (has(PERF_SAMPLE_WEIGHT_TYPE)) TakeWeight(reader, has(PERF_SAMPLE_WEIGHT_STRUCT), sample);
  if (has(PERF_SAMPLE_DATA_SRC)) {
    sample.data_src = reader.Take<uint64_t>();
    sample.has_data_src = true;
  }
  if (has(PERF_SAMPLE_TRANSACTION)) reader.SkipWords(1);
  if (has(PERF_SAMPLE_REGS_INTR)) SkipInterruptRegisters(reader, layout.interrupt_register_mask);
  if (has(PERF_SAMPLE_PHYS_ADDR)) sample.physical_address = reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_CGROUP)) reader.SkipWords(1);
  if (has(PERF_SAMPLE_DATA_PAGE_SIZE)) sample.page_bytes = reader.Take<uint64_t>();
  if (has(PERF_SAMPLE_CODE_PAGE_SIZE)) reader.SkipWords(1);
  if (has(PERF_SAMPLE_AUX)) reader.TakeBytes(reader.Take<uint64_t>());
}

}  // namespace

bool IsSupportedLayout(const RecordLayout& layout) {
  return (layout.sample_type & ~kKnownSample) == 0 && (layout.read_format & ~kKnownRead) == 0;
}

std::optional<RawSample> TakeSample(RecordReader reader, const RecordLayout& layout) {
  RawSample sample;
  TakeFront(reader, layout.sample_type, sample);
  TakeMiddle(reader, layout, sample);
  TakeBack(reader, layout, sample);
  if (!reader.finished()) return std::nullopt;
  return sample;
}

}  // namespace memagent::decode
