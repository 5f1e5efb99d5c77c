#include "agent/profile/reader_frames.h"

#include <cstring>

#include "agent/profile/crc32c.h"
#include "agent/profile/reader.h"

namespace memagent::profile {
namespace {

// See chunk_writer.h for the layout.
constexpr char kChunkTag = 0x0a;
constexpr char kCrcTag = 0x0d;
constexpr char kSeqTag = 0x10;
constexpr size_t kCrcFieldBytes = 5;  // tag and value

// Reads a varint of at most 5 bytes at `offset` and moves it on; nullopt when it is longer.
// `cut_short` is set when the bytes end inside it.
std::optional<uint64_t> ReadVarint(std::string_view bytes, size_t& offset, bool& cut_short) {
  uint64_t value = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    if (offset == bytes.size()) {
      cut_short = true;
      return std::nullopt;
    }
    const auto byte = static_cast<unsigned char>(bytes[offset++]);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

uint32_t StoredCrc(std::string_view chunk) {
  uint32_t crc;
  std::memcpy(&crc, chunk.data() + 1, sizeof(crc));
  return crc;
}

}  // namespace

FrameWalk::FrameWalk(std::string_view bytes)
    : bytes_(bytes), checksum_budget_(uint64_t{bytes.size()} * 4 + kMaxChunkBytes) {}

FrameWalk::Found FrameWalk::Look(size_t offset) {
  constexpr Found kBad = {Verdict::kBad, {}, 0};
  constexpr Found kCutShort = {Verdict::kCutShort, {}, 0};
  if (bytes_[offset++] != kChunkTag) return kBad;
  bool cut_short = false;
  const std::optional<uint64_t> length = ReadVarint(bytes_, offset, cut_short);
  if (!length) return cut_short ? kCutShort : kBad;
  if (*length < kCrcFieldBytes || *length > kMaxChunkBytes) return kBad;
  const std::string_view rest = bytes_.substr(offset);
  if (!rest.empty() && rest[0] != kCrcTag) return kBad;
  if (rest.size() > kCrcFieldBytes && rest[kCrcFieldBytes] != kSeqTag) return kBad;
  if (rest.size() < *length) return kCutShort;
  const std::string_view chunk = rest.substr(0, *length);
  if (checksum_budget_ < *length) return kBad;
  checksum_budget_ -= *length;
  if (Crc32c(chunk.substr(kCrcFieldBytes)) != StoredCrc(chunk)) return kBad;
  return {Verdict::kGood, chunk, offset + *length};
}

std::optional<std::string_view> FrameWalk::Take(const Found& found) {
  offset_ = found.next;
  return found.chunk;
}

std::optional<std::string_view> FrameWalk::Next() {
  if (offset_ == bytes_.size()) return std::nullopt;
  const Found here = Look(offset_);
  if (here.verdict == Verdict::kGood) return Take(here);
  for (size_t next = offset_ + 1; next < bytes_.size(); ++next) {
    if (bytes_[next] != kChunkTag) continue;
    const Found found = Look(next);
    if (found.verdict != Verdict::kGood) continue;
    ++damaged_;
    return Take(found);
  }
  offset_ = bytes_.size();
  truncated_ = here.verdict == Verdict::kCutShort;
  if (!truncated_) ++damaged_;
  return std::nullopt;
}

bool LooksLikeChunk(std::string_view bytes) {
  if (bytes.empty() || bytes[0] != kChunkTag) return false;
  size_t offset = 1;
  bool cut_short = false;
  const std::optional<uint64_t> length = ReadVarint(bytes, offset, cut_short);
  if (!length) return cut_short;
  return offset == bytes.size() || bytes[offset] == kCrcTag;
}

}  // namespace memagent::profile
