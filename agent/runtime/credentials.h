// User and group ids and capabilities of a thread, read in one and taken in another. Raw system calls: libc's would set
// all its threads, and the drain thread is none of them.
#ifndef MEMAGENT_AGENT_RUNTIME_CREDENTIALS_H_
#define MEMAGENT_AGENT_RUNTIME_CREDENTIALS_H_

#include <linux/capability.h>
#include <sys/types.h>

#include <cstdint>

namespace memagent::runtime {

struct Credentials {
  // More supplementary groups than this are left out: less privilege is always safe.
  static constexpr int kMaxGroups = 64;
  uid_t user[3] = {};  // real, effective, saved
  gid_t group[3] = {};
  gid_t groups[kMaxGroups] = {};
  int group_count = 0;
  bool has_capabilities = false;  // whether the kernel told them
  __user_cap_data_struct capabilities[_LINUX_CAPABILITY_U32S_3] = {};
};

// Of the calling thread.
void ReadCredentials(Credentials& credentials);

// Makes the calling thread's the same. What it may not do it leaves: it then had less already.
void TakeCredentials(const Credentials& credentials);

}  // namespace memagent::runtime

#endif  // MEMAGENT_AGENT_RUNTIME_CREDENTIALS_H_
