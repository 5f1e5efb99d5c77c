#include "agent/capture/engine_facts.h"

namespace memagent::capture {

EngineFacts ReadEngineFacts(std::string_view proc_root, std::string_view sys_root) {
  return {os::ReadCpuInfo(proc_root), os::ReadKernelSettings(proc_root, sys_root),
          os::ReadPmuFacts(sys_root), os::ReadPrivileges()};
}

}  // namespace memagent::capture
