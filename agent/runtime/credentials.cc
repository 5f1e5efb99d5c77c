#include "agent/runtime/credentials.h"

#include "agent/base/syscall.h"

namespace memagent::runtime {

using base::Syscall;

void ReadCredentials(Credentials& credentials) {
  Syscall(SYS_getresuid, &credentials.user[0], &credentials.user[1], &credentials.user[2]);
  Syscall(SYS_getresgid, &credentials.group[0], &credentials.group[1], &credentials.group[2]);
  const long count = Syscall(SYS_getgroups, Credentials::kMaxGroups, credentials.groups);
  credentials.group_count = count > 0 ? static_cast<int>(count) : 0;
}

// Groups first: without the user's privilege they could no longer be changed.
void TakeCredentials(const Credentials& credentials) {
  Syscall(SYS_setgroups, credentials.group_count, credentials.groups);
  Syscall(SYS_setresgid, credentials.group[0], credentials.group[1], credentials.group[2]);
  Syscall(SYS_setresuid, credentials.user[0], credentials.user[1], credentials.user[2]);
}

}  // namespace memagent::runtime
