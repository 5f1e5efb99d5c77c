// Where the access resolver gets code bytes and function bounds from; tests give it a fake.
#ifndef MEMAGENT_AGENT_DECODE_CODE_READER_H_
#define MEMAGENT_AGENT_DECODE_CODE_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "agent/os/function_bounds.h"
#include "agent/os/self_memory.h"

namespace memagent::decode {

class CodeReader {
 public:
  // Copies code bytes; returns the length of the readable prefix.
  virtual size_t Read(uint64_t address, std::span<std::byte> out) = 0;
  // The function around `pc`, or nullopt when no unwind table covers it.
  virtual std::optional<os::FunctionBounds> FunctionAt(uint64_t pc) = 0;

 protected:
  ~CodeReader() = default;  // never deleted through the interface: no operator delete in the agent
};

// The code of this process. Calling thread: any; raw system calls only.
class ProcessCode final : public CodeReader {
 public:
  size_t Read(uint64_t address, std::span<std::byte> out) override {
    return os::ReadSelf(address, out);
  }
  std::optional<os::FunctionBounds> FunctionAt(uint64_t pc) override {
    return os::FindFunction(pc);
  }
};

}  // namespace memagent::decode

#endif  // MEMAGENT_AGENT_DECODE_CODE_READER_H_
