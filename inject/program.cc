#include "inject/program.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>
#include <string_view>

namespace memagent::inject {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kOurMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kOurMachine = EM_AARCH64;
#else
#error "memagent knows x86-64 and AArch64 only"
#endif

// Linux follows at most four "#!" files (exec(2), "Interpreter scripts").
constexpr int kMaxScriptDepth = 4;
// The kernel reads the "#!" line from the first 256 bytes (BINPRM_BUF_SIZE).
constexpr size_t kScriptHeadBytes = 256;

template <typename T>
std::optional<T> Load(std::span<const char> file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

std::optional<Elf64_Phdr> FindSegment(std::span<const char> file, const Elf64_Ehdr& header,
                                      uint32_t type) {
  for (uint32_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = Load<Elf64_Phdr>(file, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return std::nullopt;
    if (segment->p_type == type) return segment;
  }
  return std::nullopt;
}

// The dynamic string table; empty when a header points outside the file.
std::string_view DynamicStrings(std::span<const char> file, const Elf64_Ehdr& header) {
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    const auto section = Load<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return {};
    if (section->sh_type != SHT_DYNSYM) continue;
    const auto strings =
        Load<Elf64_Shdr>(file, header.e_shoff + uint64_t{section->sh_link} * sizeof(Elf64_Shdr));
    if (!strings || strings->sh_offset > file.size()) return {};
    return std::string_view(file.data(), file.size()).substr(strings->sh_offset, strings->sh_size);
  }
  return {};
}

// The run-time's own entry point is imported from libasan.so and friends, or exported by a program
// that has the run-time linked in (clang's default): its name is in .dynstr either way.
bool HasSanitizer(std::string_view dynamic_strings) {
  for (const char* name : {"__asan_init", "__tsan_init", "__msan_init", "__hwasan_init"}) {
    const size_t at = dynamic_strings.find(name);
    if (at != std::string_view::npos && (at == 0 || dynamic_strings[at - 1] == '\0')) return true;
  }
  return false;
}

// The whole file mapped for reading; empty when it can't be.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      void* start =
          mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
      if (start != MAP_FAILED) {
        bytes_ = {static_cast<const char*>(start), static_cast<size_t>(status.st_size)};
      }
    }
    close(fd);
  }
  ~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const char> bytes() const { return bytes_; }

 private:
  std::span<const char> bytes_;
};

bool IsExecutableFile(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

std::string FindInPath(const std::string& name) {
  if (name.find('/') != std::string::npos) return IsExecutableFile(name) ? name : "";
  const char* path = getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";
  while (true) {
    const size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    std::string candidate = folder.empty() ? name : std::string(folder) + "/" + name;
    if (IsExecutableFile(candidate)) return candidate;
    if (colon == std::string_view::npos) return "";
    rest.remove_prefix(colon + 1);
  }
}

// True when execve would change the identity or the capabilities of a process like ours, which
// makes the loader ignore LD_PRELOAD entries that hold a slash (ld.so(8), secure-execution mode).
bool GainsPrivileges(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return false;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != getuid()) return true;
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != getgid()) return true;
  return getuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

}  // namespace

ProgramKind ClassifyProgram(std::span<const char> file) {
  const std::string_view head(file.data(), file.size());
  if (head.starts_with("#!")) return ProgramKind::kScript;
  if (!head.starts_with(ELFMAG)) return ProgramKind::kUnknown;
  const auto header = Load<Elf64_Ehdr>(file, 0);
  if (!header) return ProgramKind::kUnknown;
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != kOurMachine) {
    return ProgramKind::kOtherMachine;
  }
  if (!FindSegment(file, *header, PT_INTERP)) return ProgramKind::kStatic;
  if (HasSanitizer(DynamicStrings(file, *header))) return ProgramKind::kSanitizer;
  return ProgramKind::kProfilable;
}

std::string ScriptInterpreter(std::span<const char> file) {
  std::string_view line(file.data(), std::min(file.size(), kScriptHeadBytes));
  if (!line.starts_with("#!")) return "";
  line = line.substr(2, line.find('\n') - 2);
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  line.remove_prefix(begin);
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

Program InspectProgram(const std::string& name) {
  Program program;
  program.path = FindInPath(name);
  program.decided_by = program.path;
  for (int depth = 0; depth <= kMaxScriptDepth && !program.decided_by.empty(); ++depth) {
    const MappedFile file(program.decided_by);
    program.kind = ClassifyProgram(file.bytes());
    if (program.kind != ProgramKind::kScript) {
      if (GainsPrivileges(program.decided_by)) program.kind = ProgramKind::kPrivileged;
      break;
    }
    program.decided_by = ScriptInterpreter(file.bytes());
  }
  return program;
}

std::string WhyNotMeasured(const Program& program) {
  const std::string& file = program.decided_by;
  switch (program.kind) {
    case ProgramKind::kStatic:
      return "'" + file +
             "' is statically linked, so LD_PRELOAD cannot reach it; it runs unmeasured: "
             "link it dynamically to profile it.";
    case ProgramKind::kOtherMachine:
      return "'" + file +
             "' is built for another word size or processor than memagent; it runs "
             "unmeasured: build it for this machine's 64-bit mode to profile it.";
    case ProgramKind::kSanitizer:
      return "'" + file +
             "' is built with a sanitizer that must own malloc; it runs unmeasured: build "
             "it without -fsanitize= to profile it.";
    case ProgramKind::kPrivileged:
      return "'" + file +
             "' gains privileges when it starts, and the loader then ignores LD_PRELOAD; "
             "it runs unmeasured: run memagent as the user it becomes.";
    case ProgramKind::kProfilable:
    case ProgramKind::kScript:
    case ProgramKind::kUnknown:
      return "";
  }
  return "";
}

}  // namespace memagent::inject
