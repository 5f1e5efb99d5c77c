#include "agent/os/memory_policy.h"

#include <errno.h>
#include <linux/mempolicy.h>

#include <iterator>

#include "agent/base/syscall.h"
#include "agent/os/sandbox_probe.h"

namespace memagent::os {
namespace {

// linux/mempolicy.h: flags stand in the upper bits of the mode, modes are small numbers.
constexpr uint32_t kModeBits = 0xff;

long RealGetMempolicy(void*, int* mode, uint64_t* mask, uint64_t address, unsigned flags) {
  if (PageQuestionsForbidden()) return -EPERM;
  return base::Syscall(SYS_get_mempolicy, mode, mask, base::BitMask::kBits, address, flags);
}

}  // namespace

MemoryPolicy MakePolicy(uint32_t mode_and_flags, const base::BitMask& nodes) {
  MemoryPolicy policy = {mode_and_flags & kModeBits, nodes};
  if (policy.mode == MPOL_PREFERRED && !nodes.any()) policy.mode = MPOL_LOCAL;
  return policy;
}

std::string_view PolicyModeName(uint32_t mode) {
  constexpr std::string_view kNames[] = {"default", "preferred",      "bind",
                                         "interleave", "local", "preferred_many",
                                         "weighted_interleave"};
  return mode < std::size(kNames) ? kNames[mode] : "unknown";
}

PolicyReader::PolicyReader() : calls_{nullptr, RealGetMempolicy} {}

std::optional<MemoryPolicy> PolicyReader::Ask(uint64_t address, unsigned flags) {
  if (refused_ != 0) return std::nullopt;
  int mode = 0;
  base::BitMask nodes;
  const long result = calls_.get_mempolicy(calls_.context, &mode, nodes.words.data(), address, flags);
  if (result == 0) return MakePolicy(static_cast<uint32_t>(mode), nodes);
  if (result != -EFAULT) refused_ = static_cast<int>(-result);  // EFAULT: nothing is mapped there
  return std::nullopt;
}

std::optional<MemoryPolicy> PolicyReader::OfMapping(uint64_t address) {
  return Ask(address, MPOL_F_ADDR);
}

std::optional<MemoryPolicy> PolicyReader::OfThisThread() { return Ask(0, 0); }

}  // namespace memagent::os
