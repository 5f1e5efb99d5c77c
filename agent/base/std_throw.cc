// The agent is built without exceptions, but libstdc++'s containers call these out-of-line functions
// where they would throw. Defined here, they end the calling thread's work with a trap instead of
// pulling libstdc++'s exception machinery, which allocates 73 KB from the host's heap in a
// constructor (facts: agent_core.md G). They are reached only when memory is exhausted or a
// container is misused.
namespace std {

[[noreturn]] void __throw_length_error(const char*) { __builtin_trap(); }
[[noreturn]] void __throw_bad_alloc() { __builtin_trap(); }
[[noreturn]] void __throw_bad_array_new_length() { __builtin_trap(); }
[[noreturn]] void __throw_out_of_range(const char*) { __builtin_trap(); }
[[noreturn]] void __throw_out_of_range_fmt(const char*, ...) { __builtin_trap(); }
[[noreturn]] void __throw_logic_error(const char*) { __builtin_trap(); }
[[noreturn]] void __throw_bad_function_call() { __builtin_trap(); }

}  // namespace std
