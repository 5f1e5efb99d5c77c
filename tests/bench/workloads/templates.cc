// A source file that keeps a compiler busy: containers and algorithms and, with -DWORK=2, variants, streams
// and functions of the standard library.
#include <map>
#include <string>
#include <vector>

#if WORK >= 2
#include <algorithm>
#include <functional>
#include <iomanip>
#include <iostream>
#include <list>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>
#include <unordered_map>
#include <variant>
#endif

std::map<std::string, std::vector<int>> Index(const std::vector<std::string>& words) {
  std::map<std::string, std::vector<int>> index;
  for (size_t i = 0; i < words.size(); ++i) index[words[i]].push_back(static_cast<int>(i));
  return index;
}

#if WORK >= 2
using Value = std::variant<int, double, std::string, std::vector<int>>;

template <int kKind>
struct Record {
  std::unordered_map<std::string, Value> fields;
  std::set<std::tuple<int, std::string, double>> keys;
  std::list<std::unique_ptr<Record>> below;

  std::optional<Value> Find(const std::string& name) const {
    const auto found = fields.find(name);
    if (found == fields.end()) return std::nullopt;
    return found->second;
  }
  std::string Text() const {
    std::ostringstream out;
    for (const auto& [name, value] : fields) {
      out << std::setw(kKind) << name << '=';
      std::visit([&out](const auto& v) {
        if constexpr (requires { out << v; }) out << v;
      }, value);
    }
    for (const auto& record : below) out << record->Text();
    return out.str();
  }
  void Sort(std::vector<std::string>& names) const {
    std::stable_sort(names.begin(), names.end(), [](const auto& a, const auto& b) {
      return std::hash<std::string>()(a) % (kKind + 7) < std::hash<std::string>()(b) % (kKind + 7);
    });
  }
};

template <int... kKinds>
std::string All(std::integer_sequence<int, kKinds...>) {
  std::vector<std::string> names;
  ((names.push_back(Record<kKinds>().Text()), Record<kKinds>().Sort(names)), ...);
  std::string result;
  for (const auto& [word, places] : Index(names)) result += word + std::to_string(places.size());
  return result;
}

std::string Everything() { return All(std::make_integer_sequence<int, 1>()); }

int main() { std::cout << Everything() << '\n'; }
#endif
