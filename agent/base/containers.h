// Standard containers over the private heap: the only containers that cold stages use.
#ifndef MEMAGENT_AGENT_BASE_CONTAINERS_H_
#define MEMAGENT_AGENT_BASE_CONTAINERS_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/base/private_heap.h"

namespace memagent::base {

template <typename T>
using Vector = std::vector<T, Allocator<T>>;

template <typename K, typename V, typename Hash = std::hash<K>>
using HashMap = std::unordered_map<K, V, Hash, std::equal_to<K>, Allocator<std::pair<const K, V>>>;

template <typename K, typename V>
using OrderedMap = std::map<K, V, std::less<K>, Allocator<std::pair<const K, V>>>;

using String = std::basic_string<char, std::char_traits<char>, Allocator<char>>;

// std::hash knows only std::string's allocator.
struct StringHash {
  size_t operator()(const String& text) const {
    return std::hash<std::string_view>()(std::string_view(text));
  }
};

}  // namespace memagent::base

#endif  // MEMAGENT_AGENT_BASE_CONTAINERS_H_
