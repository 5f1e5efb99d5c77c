// protozero without exceptions. Its varint decoder, which the writer never uses, throws, and a
// destructor that can't throw has a try block; g++ refuses both under -fno-exceptions, and
// compiling this stage with exceptions would pull libstdc++'s exception pool, 73 KB from the host's
// heap at load (facts: agent_core.md G). So while the header is included, `throw` traps and a
// handler is dead code.
#ifndef MEMAGENT_AGENT_PROFILE_PROTOZERO_H_
#define MEMAGENT_AGENT_PROFILE_PROTOZERO_H_

// What protozero includes, included first: the macros below must not reach a standard header.
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

// protozero's assert() would print and abort in the host program. What it checks is fixed in the
// source (no field is added to a message whose submessage is open), and the tests parse every
// message with libprotobuf.
#define protozero_assert(condition) static_cast<void>(0)

#if !defined(__cpp_exceptions)
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wkeyword-macro"
#endif
// clang-format off
#define throw __builtin_trap(), (void)
#define try if (true)
#define catch(ignored) else
// clang-format on
#include <protozero/basic_pbf_writer.hpp>
#undef throw
#undef try
#undef catch
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
#else
#include <protozero/basic_pbf_writer.hpp>
#endif

#endif  // MEMAGENT_AGENT_PROFILE_PROTOZERO_H_
