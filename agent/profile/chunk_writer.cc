#include "agent/profile/chunk_writer.h"

#include <cstring>

#include "agent/profile/crc32c.h"

namespace memagent::profile {
namespace {

constexpr char kChunkTag = 0x0a;  // ProfileFile.chunk = 1, length-delimited
constexpr char kCrcTag = 0x0d;    // Chunk.crc32c = 1, fixed32
constexpr char kSeqTag = 0x10;    // Chunk.seq = 2, varint
constexpr uint32_t kLengthDelimited = 2;

// Writes `value` as a varint that ends just before `end`; returns its start.
char* PrependVarint(char* end, uint64_t value) {
  char encoded[protozero::max_varint_length];
  char* out = encoded;
  const int length = protozero::write_varint(out, value);
  std::memcpy(end - length, encoded, static_cast<size_t>(length));
  return end - length;
}

}  // namespace

bool ChunkWriter::Commit(ChunkBody kind) {
  char* const body = buffer_.at(kHeadroom);
  char* const end = body + body_bytes();
  char* start = PrependVarint(body, body_bytes());
  start = PrependVarint(start, (static_cast<uint32_t>(kind) << 3) | kLengthDelimited);
  start = PrependVarint(start, next_seq_++);
  *--start = kSeqTag;
  const uint32_t crc = Crc32c(std::span<const char>(start, end));
  start -= sizeof(crc);
  std::memcpy(start, &crc, sizeof(crc));  // little-endian on every machine the agent runs on
  *--start = kCrcTag;
  start = PrependVarint(start, static_cast<uint64_t>(end - start));
  *--start = kChunkTag;
  const bool stored = sink_.Append(std::span<const char>(start, end));
  Clear();
  return stored;
}

void ChunkWriter::StartOver() {
  next_seq_ = 0;
  Clear();
}

}  // namespace memagent::profile
