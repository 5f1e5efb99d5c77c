#include "agent/profile/string_table.h"

namespace memagent::profile {
namespace {

constexpr size_t kFirstSlots = 256;

// FNV-1a, 32 bits: texts are short and come from the program itself.
uint32_t HashOf(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

}  // namespace

StringTable::StringTable() {
  entries_.push_back(Entry{0, 0, 0});
  slots_.resize(kFirstSlots);
}

std::string_view StringTable::Text(uint32_t id) const {
  const Entry& entry = entries_[id];
  return std::string_view(pool_.data() + entry.offset, entry.length);
}

size_t StringTable::FindSlot(std::string_view text, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const uint32_t id = slots_[slot];
    if (entries_[id].hash == hash && Text(id) == text) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

void StringTable::Grow() {
  slots_.assign(slots_.size() * 2, 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t id = 1; id < entries_.size(); ++id) {
    size_t slot = entries_[id].hash & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = id;
  }
}

uint32_t StringTable::Intern(std::string_view text) {
  if (text.empty()) return 0;
  text = text.substr(0, kMaxTextBytes);
  const uint32_t hash = HashOf(text);
  size_t slot = FindSlot(text, hash);
  if (slots_[slot] != 0) return slots_[slot];
  if (entries_.size() * 2 > slots_.size()) {
    Grow();
    slot = FindSlot(text, hash);
  }
  const size_t offset = pool_.size();
  pool_.insert(pool_.end(), text.begin(), text.end());
  entries_.push_back(Entry{offset, static_cast<uint32_t>(text.size()), hash});
  slots_[slot] = size();
  return size();
}

}  // namespace memagent::profile
