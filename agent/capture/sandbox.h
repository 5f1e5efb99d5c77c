// Installing a seccomp filter: see hooks_sandbox.cc.
#ifndef MEMAGENT_AGENT_CAPTURE_SANDBOX_H_
#define MEMAGENT_AGENT_CAPTURE_SANDBOX_H_

namespace memagent::capture {

// Makes the system call, which installs a filter, once nothing of ours is left that it could kill for.
long InstallFilter(long number, long a, long b, long c, long d, long e, long f);

}  // namespace memagent::capture

#endif  // MEMAGENT_AGENT_CAPTURE_SANDBOX_H_
