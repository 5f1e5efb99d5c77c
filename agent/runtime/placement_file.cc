#include "agent/runtime/placement_file.h"

#include <cstring>
#include <new>

#include "agent/base/arena.h"
#include "agent/capture/placement.h"
#include "agent/os/file.h"
#include "agent/os/sandbox_probe.h"

namespace memagent::runtime {
namespace {

// 64 rules of 128 frames are some 500 KiB.
constexpr size_t kMaxFileBytes = size_t{4} << 20;

}  // namespace

size_t ParsePlacementRules(std::string_view text, std::span<base::PlacementRule> rules,
                           PlacementWarning warn, void* context) {
  size_t count = 0;
  while (!text.empty()) {
    const std::string_view line = base::TakeField(text, '\n');
    if (line.empty() || line.front() == '#') continue;
    if (count == rules.size()) {
      warn(context, "place", "it has more than 64 rules");
      break;
    }
    const std::string_view problem = base::ParsePlacementRule(line, rules[count]);
    if (problem.empty()) {
      ++count;
    } else {
      warn(context, line, problem);
    }
  }
  return count;
}

// The private heap is emptied in a child of fork, where the rules are still in force: they live
// beside it.
void LoadPlacementFile(const char* path, PlacementWarning warn, void* context) {
  const auto text = os::ReadWholeFile(path, kMaxFileBytes);
  if (!text) return warn(context, "place", "the file can't be read");
  constexpr size_t kRuleBytes = sizeof(base::PlacementRule) * capture::kMaxPlacementRules;
  auto* kept = static_cast<char*>(base::ArenaAllocate(text->size() + 1));
  auto* rules = static_cast<base::PlacementRule*>(base::ArenaAllocate(kRuleBytes));
  if (kept == nullptr || rules == nullptr) return warn(context, "place", "there is no memory");
  memcpy(kept, text->data(), text->size());
  for (size_t i = 0; i < capture::kMaxPlacementRules; ++i) new (&rules[i]) base::PlacementRule;
  const std::span room(rules, capture::kMaxPlacementRules);
  const size_t count = ParsePlacementRules({kept, text->size()}, room, warn, context);
  if (count != 0 && os::PlacementCallsKill()) {
    return warn(context, "place", "a seccomp filter would kill the program for placing memory");
  }
  capture::SetPlacementRules(room.first(count));
}

}  // namespace memagent::runtime
