// Finds the chunks in the bytes of a profile, also in damaged ones. Pure; part of the reader.
#ifndef MEMAGENT_AGENT_PROFILE_READER_FRAMES_H_
#define MEMAGENT_AGENT_PROFILE_READER_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace memagent::profile {

// Walks over whole chunks with a right checksum. Where one is damaged, even in its length, the walk
// goes on at the next offset where a whole chunk with a right checksum begins.
class FrameWalk {
 public:
  explicit FrameWalk(std::string_view bytes);

  // The next chunk, an encoded v1::Chunk; nullopt at the end. The view is into `bytes`.
  std::optional<std::string_view> Next();

  // Damaged stretches skipped so far: each is one chunk or several in a row.
  uint32_t damaged() const { return damaged_; }
  // Only after Next() gave nullopt: the last bytes are the beginning of a chunk.
  bool truncated() const { return truncated_; }

 private:
  enum class Verdict { kGood, kBad, kCutShort };
  struct Found {
    Verdict verdict;
    std::string_view chunk;
    size_t next;
  };
  Found Look(size_t offset);
  std::optional<std::string_view> Take(const Found& found);

  std::string_view bytes_;
  size_t offset_ = 0;
  uint64_t checksum_budget_;  // bytes that may still be summed: bounds hostile input
  uint32_t damaged_ = 0;
  bool truncated_ = false;
};

// Whether the first bytes could be a chunk of ours: tells "damaged" from "not ours".
bool LooksLikeChunk(std::string_view bytes);

}  // namespace memagent::profile

#endif  // MEMAGENT_AGENT_PROFILE_READER_FRAMES_H_
