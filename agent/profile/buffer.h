// A growing byte buffer on the private heap, and protozero's hooks for it: nothing here throws or
// reaches operator new. Calling thread: the drain thread.
#ifndef MEMAGENT_AGENT_PROFILE_BUFFER_H_
#define MEMAGENT_AGENT_PROFILE_BUFFER_H_

#include <cstddef>
#include <cstring>
#include <span>

#include "agent/base/containers.h"
#include "agent/profile/protozero.h"

namespace memagent::profile {

class Buffer {
 public:
  size_t size() const { return bytes_.size(); }
  std::span<const char> view() const { return std::span<const char>(bytes_.data(), bytes_.size()); }
  char* at(size_t position) { return bytes_.data() + position; }
  void push_back(char c) { bytes_.push_back(c); }
  void append(const char* data, size_t count) { bytes_.insert(bytes_.end(), data, data + count); }
  void append_zeros(size_t count) { bytes_.resize(bytes_.size() + count); }
  void resize(size_t size) { bytes_.resize(size); }
  void reserve(size_t size) { bytes_.reserve(size); }
  void erase(size_t from, size_t to) {
    std::memmove(at(from), at(to), size() - to);
    bytes_.resize(size() - (to - from));
  }

 private:
  base::Vector<char> bytes_;
};

using MessageWriter = protozero::basic_pbf_writer<Buffer>;

}  // namespace memagent::profile

namespace protozero {

template <>
struct buffer_customization<memagent::profile::Buffer> {
  using Buffer = memagent::profile::Buffer;
  static size_t size(const Buffer* buffer) { return buffer->size(); }
  static void append(Buffer* buffer, const char* data, size_t count) {
    buffer->append(data, count);
  }
  static void append_zeros(Buffer* buffer, size_t count) { buffer->append_zeros(count); }
  static void resize(Buffer* buffer, size_t size) { buffer->resize(size); }
  // Growth is geometric: an exact reserve for each field would make it quadratic.
  static void reserve_additional(Buffer*, size_t) {}
  static void erase_range(Buffer* buffer, size_t from, size_t to) { buffer->erase(from, to); }
  static char* at_pos(Buffer* buffer, size_t position) { return buffer->at(position); }
  static void push_back(Buffer* buffer, char c) { buffer->push_back(c); }
};

}  // namespace protozero

#endif  // MEMAGENT_AGENT_PROFILE_BUFFER_H_
