// Texts of a profile, each stored once. Ids count from 1 in order of first use; 0 is "".
// Calling thread: the drain thread (private heap).
#ifndef MEMAGENT_AGENT_PROFILE_STRING_TABLE_H_
#define MEMAGENT_AGENT_PROFILE_STRING_TABLE_H_

#include <cstdint>
#include <string_view>

#include "agent/base/containers.h"

namespace memagent::profile {

class StringTable {
 public:
  StringTable();

  // The id of `text`, which is copied on first sight. Texts over kMaxTextBytes are cut.
  uint32_t Intern(std::string_view text);

  // Valid until the next Intern. `id` must be at most size().
  std::string_view Text(uint32_t id) const;

  // Number of texts, which is also the highest id.
  uint32_t size() const { return static_cast<uint32_t>(entries_.size() - 1); }

  // C++ names reach 10 KB; longer ones are cut rather than let one symbol fill a chunk.
  static constexpr size_t kMaxTextBytes = size_t{64} << 10;

 private:
  struct Entry {
    size_t offset;
    uint32_t length;
    uint32_t hash;
  };

  size_t FindSlot(std::string_view text, uint32_t hash) const;
  void Grow();

  base::Vector<char> pool_;
  base::Vector<Entry> entries_;   // by id
  base::Vector<uint32_t> slots_;  // open addressing, power of two, 0: free
};

}  // namespace memagent::profile

#endif  // MEMAGENT_AGENT_PROFILE_STRING_TABLE_H_
