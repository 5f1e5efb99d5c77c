// The version that profiles and `memagent --version` state.
#ifndef MEMAGENT_AGENT_RUNTIME_VERSION_H_
#define MEMAGENT_AGENT_RUNTIME_VERSION_H_

namespace memagent::runtime {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_VERSION_H_
