// Row P87: the program is somewhere else, and somebody else, when the profile is finished.
//
//   other_place chdir|gone|umask|dumpable|nobody|chroot|daemon|namespace
//
// Needs root for nobody, chroot, daemon (all of them at once) and namespace.
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/programs/ground_truth.h"
#include "tests/programs/pitfalls/own_state.h"

namespace {

constexpr unsigned kNobody = 65534;

[[gnu::noinline]] void* alloc_at_home() { return ground_truth::Kept<void>(malloc(1000)); }
[[gnu::noinline]] void* alloc_elsewhere() { return ground_truth::Kept<void>(malloc(3000)); }

bool Done(int result, const char* what) {
  if (result != 0) printf("%s: errno %d\n", what, errno);
  return result == 0;
}

void ChangeRoot() {
  Done(mkdir("root", 0755), "mkdir");
  if (Done(chroot("root"), "chroot")) Done(chdir("/"), "chdir");
}

void BecomeNobody() {
  Done(setgroups(0, nullptr), "setgroups");
  Done(setgid(kNobody), "setgid");
  Done(setuid(kNobody), "setuid");
}

// A folder that the program stands in and that is gone.
void StandNowhere() {
  Done(mkdir("gone", 0755), "mkdir");
  Done(chdir("gone"), "chdir");
  Done(rmdir("../gone"), "rmdir");
}

void HideFiles() {
  if (!Done(unshare(CLONE_NEWNS), "unshare")) return;
  Done(mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "private");
  Done(mount("none", "/tmp", "tmpfs", 0, nullptr), "mount");
}

void Go(const std::string& what) {
  if (what == "chdir") Done(chdir("/"), "chdir");
  if (what == "gone") StandNowhere();
  if (what == "umask") umask(0777);
  if (what == "dumpable") Done(prctl(PR_SET_DUMPABLE, 0), "dumpable");
  if (what == "nobody") BecomeNobody();
  if (what == "chroot") ChangeRoot();
  if (what == "namespace") HideFiles();
  if (what == "daemon") {
    umask(027);
    ChangeRoot();
    BecomeNobody();
    Done(prctl(PR_SET_DUMPABLE, 0), "dumpable");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const std::string when = argc > 2 ? argv[2] : "";
  for (int i = 0; i < 50; ++i) alloc_at_home();
  if (when == "late") usleep(150'000);  // the profile's file is there by then
  Go(what);
  for (int i = 0; i < 50; ++i) alloc_elsewhere();
  char folder[4096];
  printf("%s\n", getcwd(folder, sizeof(folder)) != nullptr ? "somewhere" : "nowhere");
  printf("user %u, group %u, dumpable %d\n", getuid(), getgid(), prctl(PR_GET_DUMPABLE));
  own_state::Print();
  return 3;
}
