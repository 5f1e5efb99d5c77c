// The engines' names, as in engine=, in `memagent check` and in reports.
#ifndef MEMAGENT_AGENT_BASE_ENGINE_NAMES_H_
#define MEMAGENT_AGENT_BASE_ENGINE_NAMES_H_

#include <array>
#include <cstddef>
#include <string_view>

#include "agent/base/types.h"

namespace memagent::base {

inline constexpr std::array<std::string_view, kEngineKindCount> kEngineNames = {
    "none", "ibs", "pebs", "spe", "software", "profileme"};

constexpr std::string_view EngineName(EngineKind kind) {
  return kEngineNames[static_cast<size_t>(kind)];
}

// kNone for any other word, "auto" among them.
constexpr EngineKind EngineNamed(std::string_view name) {
  for (size_t i = 0; i < kEngineNames.size(); ++i) {
    if (kEngineNames[i] == name) return static_cast<EngineKind>(i);
  }
  return EngineKind::kNone;
}

}  // namespace memagent::base

#endif  // MEMAGENT_AGENT_BASE_ENGINE_NAMES_H_
