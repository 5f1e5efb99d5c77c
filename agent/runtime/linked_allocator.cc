#include "agent/runtime/linked_allocator.h"

#include <string_view>

#include "agent/capture/real_symbols.h"
#include "agent/os/elf_file.h"

namespace memagent::runtime {

void NoteLinkedAllocator(EventLog& log) {
  // What jemalloc, its builds for Rust, mimalloc, gperftools and rpmalloc are linked in as. Not
  // dlmalloc: libffi carries one for its trampolines.
  static constexpr std::string_view kNames[] = {
      "malloc", "je_malloc", "_rjem_malloc", "rjem_malloc", "mi_malloc", "tc_malloc", "rpmalloc"};
  if (capture::MallocAheadOfUs() != nullptr) return;  // exported: said already
  os::FileSource file("/proc/thread-self/exe");       // the other ends with the main thread
  const auto elf = os::ElfFile::Parse(file);
  const std::string_view name = elf ? elf->FindDefined(kNames) : std::string_view();
  if (name.empty()) return;
  base::String text("The program has an allocator of its own linked in (");
  text.append(name).append(
      "), whose blocks are not seen, only its mappings; build it with libc's malloc to see them.");
  log.Add(profile::Severity::kWarning, "static_malloc", text);
}

}  // namespace memagent::runtime
