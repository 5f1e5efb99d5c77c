#include "inject/surroundings.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace memagent::inject {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// By the files that the runtimes leave for exactly this question.
std::string Container(const std::string& root) {
  if (Exists(root + "/.dockerenv")) return "docker";
  if (Exists(root + "/run/.containerenv")) return "podman";
  const std::string manager = ReadText(root + "/run/systemd/container");
  return manager.substr(0, manager.find('\n'));
}

}  // namespace

bool IsUserNamespace(std::string_view uid_map) {
  std::istringstream words{std::string(uid_map)};
  uint64_t inside = 0;
  uint64_t outside = 0;
  uint64_t count = 0;
  if (!(words >> inside >> outside >> count)) return false;
  return inside != 0 || outside != 0 || count != UINT32_MAX;
}

bool HasSeccomp(std::string_view status) {
  constexpr std::string_view kKey = "\nSeccomp:";
  const size_t at = status.find(kKey);
  if (at == std::string_view::npos) return false;
  const size_t value = status.find_first_not_of(" \t", at + kKey.size());
  return value != std::string_view::npos && status[value] != '0';
}

RightsFinding ReadRights(const os::Privileges& privileges, const std::string& root) {
  RightsFinding rights;
  rights.sys_admin = privileges.sys_admin;
  rights.perfmon = privileges.perfmon;
  rights.ipc_lock = privileges.ipc_lock;
  rights.user_namespace = IsUserNamespace(ReadText(root + "/proc/self/uid_map"));
  rights.container = Container(root);
  rights.seccomp = HasSeccomp(ReadText(root + "/proc/self/status"));
  return rights;
}

}  // namespace memagent::inject
