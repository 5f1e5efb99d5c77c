// What kind of program a file is, as far as it decides whether LD_PRELOAD reaches it.
#ifndef MEMAGENT_INJECT_PROGRAM_H_
#define MEMAGENT_INJECT_PROGRAM_H_

#include <span>
#include <string>

namespace memagent::inject {

enum class ProgramKind {
  kProfilable,    // dynamically linked, of our own word size
  kStatic,        // ELF without an interpreter: no dynamic loader reads LD_PRELOAD
  kOtherMachine,  // ELF of another word size or architecture than the agent's
  kSanitizer,     // carries ASan, TSan, MSan or HWASan, which must own malloc (pitfalls P59)
  kPrivileged,    // set-uid, set-gid or with file capabilities: the loader drops our preload
  kScript,        // starts with "#!": its interpreter decides
  kUnknown,       // no ELF file; execve may still know what to do with it
};

// Judges the bytes of a file; trusts no offset in it. Never returns kPrivileged.
ProgramKind ClassifyProgram(std::span<const char> file);

// Interpreter of a "#!" line, "" when there is none.
std::string ScriptInterpreter(std::span<const char> file);

struct Program {
  std::string path;  // as execvp would find it; "" when not found
  ProgramKind kind = ProgramKind::kUnknown;
  std::string decided_by;  // the file that decided the kind: the program or a script's interpreter
};

// Finds `name` as execvp(3) does and classifies it, following scripts to their interpreter.
Program InspectProgram(const std::string& name);

// One sentence why `program` will not be measured and what to do; "" when it will be.
std::string WhyNotMeasured(const Program& program);

}  // namespace memagent::inject

#endif  // MEMAGENT_INJECT_PROGRAM_H_
