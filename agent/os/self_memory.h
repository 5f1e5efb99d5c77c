// Reads of our own process' memory that fail instead of faulting: code or data may be unmapped by
// the host between a sample and the moment the drain thread looks at it.
#ifndef MEMAGENT_AGENT_OS_SELF_MEMORY_H_
#define MEMAGENT_AGENT_OS_SELF_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace memagent::os {

// Copies memory at `address` into `out`; returns how many leading bytes were read: less than asked
// when a page in between cannot be read, 0 when nothing can. process_vm_readv on ourselves; where a
// sandbox refuses that call, /proc/self/mem. Calling thread: any, raw system calls only.
size_t ReadSelf(uint64_t address, std::span<std::byte> out);

// The second way alone, for the test of it. Same contract.
size_t ReadSelfThroughProc(uint64_t address, std::span<std::byte> out);

// Reads one trivially copyable value; false when it cannot be read whole.
template <typename T>
bool ReadSelfValue(uint64_t address, T& value) {
  return ReadSelf(address, std::as_writable_bytes(std::span<T, 1>(&value, 1))) == sizeof(T);
}

}  // namespace memagent::os

#endif  // MEMAGENT_AGENT_OS_SELF_MEMORY_H_
