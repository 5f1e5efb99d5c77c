// setuid and its family, and capset. libc makes all threads that it knows take the new credentials;
// the drain thread must follow, or a process that gave up its privileges would still hold them in
// one thread.
#include <grp.h>
#include <unistd.h>

#include "agent/capture/hooks.h"
#include "agent/capture/process_events.h"

using namespace memagent::capture;  // NOLINT: the hooks below are C functions

#define MEMAGENT_CREDENTIALS(name, parameters, arguments) \
  MEMAGENT_HOOK int name parameters {                     \
    if (!RealReady() || real.name == nullptr) return -1;  \
    return FollowedCredentials(real.name arguments);      \
  }

MEMAGENT_CREDENTIALS(setuid, (uid_t user), (user))
MEMAGENT_CREDENTIALS(setgid, (gid_t group), (group))
MEMAGENT_CREDENTIALS(seteuid, (uid_t user), (user))
MEMAGENT_CREDENTIALS(setegid, (gid_t group), (group))
MEMAGENT_CREDENTIALS(setreuid, (uid_t real_id, uid_t effective), (real_id, effective))
MEMAGENT_CREDENTIALS(setregid, (gid_t real_id, gid_t effective), (real_id, effective))
MEMAGENT_CREDENTIALS(setresuid, (uid_t real_id, uid_t effective, uid_t saved),
                     (real_id, effective, saved))
MEMAGENT_CREDENTIALS(setresgid, (gid_t real_id, gid_t effective, gid_t saved),
                     (real_id, effective, saved))
MEMAGENT_CREDENTIALS(capset, (void* header, const void* data), (header, data))
MEMAGENT_CREDENTIALS(setgroups, (size_t count, const gid_t* groups), (count, groups))
