// What confines this process: capabilities, user namespace, container, seccomp.
#ifndef MEMAGENT_INJECT_SURROUNDINGS_H_
#define MEMAGENT_INJECT_SURROUNDINGS_H_

#include <string>
#include <string_view>

#include "agent/os/machine.h"
#include "inject/capabilities.h"

namespace memagent::inject {

// `root` is where the file system begins, "" or a copy in a test.
RightsFinding ReadRights(const os::Privileges& privileges, const std::string& root = "");

// Pure. False when /proc/self/uid_map maps every number to itself: the initial user namespace.
bool IsUserNamespace(std::string_view uid_map);

// Pure. The number after "Seccomp:" in /proc/self/status is not 0.
bool HasSeccomp(std::string_view status);

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_SURROUNDINGS_H_
