#include "agent/runtime/credentials.h"

#include "agent/base/syscall.h"

namespace memagent::runtime {

using base::Syscall;

namespace {

// Process 0 is the calling thread (capset(2)).
constexpr __user_cap_header_struct kCallingThread = {_LINUX_CAPABILITY_VERSION_3, 0};

}  // namespace

void ReadCredentials(Credentials& credentials) {
  Syscall(SYS_getresuid, &credentials.user[0], &credentials.user[1], &credentials.user[2]);
  Syscall(SYS_getresgid, &credentials.group[0], &credentials.group[1], &credentials.group[2]);
  const long count = Syscall(SYS_getgroups, Credentials::kMaxGroups, credentials.groups);
  credentials.group_count = count > 0 ? static_cast<int>(count) : 0;
  __user_cap_header_struct header = kCallingThread;
  credentials.has_capabilities = Syscall(SYS_capget, &header, credentials.capabilities) == 0;
}

// Groups first: without the user's privilege they could no longer be changed. A change of the user
// may have taken the capabilities already.
void TakeCredentials(const Credentials& credentials) {
  Syscall(SYS_setgroups, credentials.group_count, credentials.groups);
  Syscall(SYS_setresgid, credentials.group[0], credentials.group[1], credentials.group[2]);
  Syscall(SYS_setresuid, credentials.user[0], credentials.user[1], credentials.user[2]);
  __user_cap_header_struct header = kCallingThread;
  if (credentials.has_capabilities) Syscall(SYS_capset, &header, credentials.capabilities);
}

}  // namespace memagent::runtime
