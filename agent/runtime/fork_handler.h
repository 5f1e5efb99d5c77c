// What runs in a child of fork, by glibc's registration.
#ifndef MEMAGENT_AGENT_RUNTIME_FORK_HANDLER_H_
#define MEMAGENT_AGENT_RUNTIME_FORK_HANDLER_H_

namespace memagent::runtime {

// Whether the process runs on glibc. Another libc loads the agent too, when its loader accepts the
// names that glibc's libraries have (musl's does: pitfalls P16).
bool OnGlibc();

// Calls `in_child` in every child of fork. On glibc only, once, on the host's main thread.
void RegisterForkHandler(void (*in_child)());

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_FORK_HANDLER_H_
