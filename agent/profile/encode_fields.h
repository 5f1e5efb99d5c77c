// Small helpers that write one protobuf field, or nothing when the value is the default.
#ifndef MEMAGENT_AGENT_PROFILE_ENCODE_FIELDS_H_
#define MEMAGENT_AGENT_PROFILE_ENCODE_FIELDS_H_

#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

#include "agent/profile/buffer.h"

namespace memagent::profile {

inline void PutUint(MessageWriter& out, uint32_t field, uint64_t value) {
  if (value != 0) out.add_uint64(field, value);
}
// int32 and sint32 differ on the wire: plain two's complement, and zigzag.
inline void PutInt(MessageWriter& out, uint32_t field, int32_t value) {
  if (value != 0) out.add_int32(field, value);
}
inline void PutSint(MessageWriter& out, uint32_t field, int32_t value) {
  if (value != 0) out.add_sint32(field, value);
}
inline void PutFixed(MessageWriter& out, uint32_t field, uint64_t value) {
  if (value != 0) out.add_fixed64(field, value);
}
inline void PutDouble(MessageWriter& out, uint32_t field, double value) {
  if (value != 0) out.add_double(field, value);
}
inline void PutBool(MessageWriter& out, uint32_t field, bool value) {
  if (value) out.add_bool(field, true);
}
inline void PutText(MessageWriter& out, uint32_t field, std::string_view text) {
  if (!text.empty()) out.add_bytes(field, text.data(), text.size());
}

// Iterates over get(record): std::views::transform of libstdc++ 12 does not compile with clang 14.
template <typename Record, typename Get>
struct ColumnIterator {
  using iterator_category = std::forward_iterator_tag;
  using value_type = decltype(std::declval<Get>()(std::declval<const Record&>()));
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = value_type;

  const Record* record;
  Get get;

  value_type operator*() const { return get(*record); }
  ColumnIterator& operator++() { return ++record, *this; }
  ColumnIterator operator++(int) { return ColumnIterator{record++, get}; }
  bool operator==(const ColumnIterator& other) const { return record == other.record; }
};

// One packed column: `get(record)` of every record, zeros included. Nothing for no records.
template <typename Record, typename Get>
void PutUintColumn(MessageWriter& out, uint32_t field, std::span<const Record> records, Get get) {
  using Iterator = ColumnIterator<Record, Get>;
  const Record* const data = records.data();
  out.add_packed_uint64(field, Iterator{data, get}, Iterator{data + records.size(), get});
}
template <typename Record, typename Get>
void PutSintColumn(MessageWriter& out, uint32_t field, std::span<const Record> records, Get get) {
  using Iterator = ColumnIterator<Record, Get>;
  const Record* const data = records.data();
  out.add_packed_sint32(field, Iterator{data, get}, Iterator{data + records.size(), get});
}

template <typename Record, typename Get>
void PutFixedColumn(MessageWriter& out, uint32_t field, std::span<const Record> records, Get get) {
  using Iterator = ColumnIterator<Record, Get>;
  const Record* const data = records.data();
  out.add_packed_fixed64(field, Iterator{data, get}, Iterator{data + records.size(), get});
}

}  // namespace memagent::profile

#endif  // MEMAGENT_AGENT_PROFILE_ENCODE_FIELDS_H_
