// The environment of an executed program, with the agent taken out of LD_PRELOAD.
#ifndef MEMAGENT_AGENT_CAPTURE_CHILD_ENVIRONMENT_H_
#define MEMAGENT_AGENT_CAPTURE_CHILD_ENVIRONMENT_H_

#include <cstddef>
#include <string_view>

namespace memagent::capture {

// Removes every entry whose file name is libmemagent.so from a LD_PRELOAD list (colons or spaces
// between entries). Writes at most list.size() bytes plus a NUL to `out`; returns the length.
size_t WithoutAgent(std::string_view list, char* out);

// Number of strings in `environment`, and the bytes needed for its edited LD_PRELOAD.
struct EnvironmentSize {
  size_t strings = 0;
  size_t text_bytes = 0;
};
EnvironmentSize MeasureEnvironment(char* const* environment);

// Whether the agent that LD_PRELOAD names can be read: after chroot or setuid it may not, and the
// loader would complain on the new program's stderr. An entry without a slash is searched by the
// loader.
bool AgentIsReadable(char* const* environment);

// Fills `strings` (MeasureEnvironment().strings + 1 pointers) and `text` with a copy of
// `environment` without the agent. A LD_PRELOAD left empty is dropped.
void BuildEnvironment(char* const* environment, char** strings, char* text);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_CHILD_ENVIRONMENT_H_
