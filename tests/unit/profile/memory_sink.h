// A Sink that keeps everything, and small helpers for profile tests.
#ifndef MEMAGENT_TESTS_UNIT_PROFILE_MEMORY_SINK_H_
#define MEMAGENT_TESTS_UNIT_PROFILE_MEMORY_SINK_H_

#include <span>
#include <string>
#include <vector>

#include "agent/profile/chunk_writer.h"
#include "agent/profile/reader.h"

namespace memagent::profile {

class MemorySink final : public Sink {
 public:
  bool Append(std::span<const char> bytes) override {
    if (refuse) return false;
    text.append(bytes.data(), bytes.size());
    ends.push_back(text.size());
    return true;
  }
  std::string text;
  std::vector<size_t> ends;  // offset after each chunk
  bool refuse = false;
};

// Parses what must be a whole, undamaged profile.
inline Profile MustParse(const std::string& bytes) {
  LoadResult result = ParseProfile(bytes, "test");
  EXPECT_TRUE(result.profile.has_value()) << result.problem;
  if (!result.profile) return Profile();
  EXPECT_EQ(result.profile->load.chunks_damaged, 0u);
  EXPECT_EQ(result.profile->load.chunks_missing, 0u);
  EXPECT_EQ(result.profile->load.bad_references, 0u);
  EXPECT_FALSE(result.profile->load.truncated);
  return std::move(*result.profile);
}

}  // namespace memagent::profile

#endif  // MEMAGENT_TESTS_UNIT_PROFILE_MEMORY_SINK_H_
