// Frames message bodies as chunks of a profile: sequence number, CRC-32C, ProfileFile field 1.
//
// One chunk on disk (profile.proto, FORMAT.md):
//
//   0a <length> | 0d <crc32c, 4 bytes> | 10 <seq> | <body tag> <body length> | <body>
//                                      '---------- covered by the CRC ------------'
//
// Calling thread: the drain thread (one at a time).
#ifndef MEMAGENT_AGENT_PROFILE_CHUNK_WRITER_H_
#define MEMAGENT_AGENT_PROFILE_CHUNK_WRITER_H_

#include <cstdint>
#include <span>

#include "agent/profile/buffer.h"

namespace memagent::profile {

// Where finished chunks go. Append returns false when they are not stored; after that the caller
// may go on calling, every call returns false.
class Sink {
 public:
  virtual bool Append(std::span<const char> bytes) = 0;

 protected:
  ~Sink() = default;  // not virtual: a deleting destructor would need operator delete
};

// The body of a Chunk: its field numbers in profile.proto.
enum class ChunkBody : uint32_t {
  kHeader = 16,
  kStrings = 17,
  kModules = 18,
  kThreads = 19,
  kCallStacks = 20,
  kSites = 21,
  kTotals = 22,
  kRawSamples = 23,
  kEvents = 24,
  kSymbols = 25,
  kFooter = 26,
};

class ChunkWriter {
 public:
  explicit ChunkWriter(Sink& sink) : sink_(sink) { Clear(); }

  // The body under construction. Write fields with MessageWriter(writer.body()).
  Buffer& body() { return buffer_; }
  size_t body_bytes() const { return buffer_.size() - kHeadroom; }

  // Frames the body, hands it to the sink in one Append and starts an empty one. False when the
  // sink refused; the sequence number is used up all the same, so that the reader sees the gap.
  bool Commit(ChunkBody kind);

  // The next chunk is number 0 again: the caller has begun a new file.
  void StartOver();

  uint32_t chunks() const { return next_seq_; }

 private:
  // Room before the body for its frame, at most 1+5 + 5 + 1+5 + 2+5 bytes.
  static constexpr size_t kHeadroom = 24;

  void Clear() { buffer_.resize(0), buffer_.resize(kHeadroom); }

  Sink& sink_;
  Buffer buffer_;
  uint32_t next_seq_ = 0;
};

}  // namespace memagent::profile

#endif  // MEMAGENT_AGENT_PROFILE_CHUNK_WRITER_H_
